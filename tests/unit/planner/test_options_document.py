from typing import Any

import pytest

from ballast.planner.errors import OptionsRejected
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.options_document import read_options


def test_all_fields_are_read() -> None:
    document = {
        "strategy": "AddBrokers",
        "brokerIds": [7, 8],
        "topics": {"include": ["^a"], "exclude": ["b$"]},
        "maxReplicaMoves": 10,
        "maxBytesToMove": 2**40,
        "seed": 3,
    }
    options = PlanOptions(
        strategy=Strategy.ADD_BROKERS,
        broker_ids=(7, 8),
        include=("^a",),
        exclude=("b$",),
        max_replica_moves=10,
        max_bytes_to_move=2**40,
        seed=3,
    )
    assert read_options(document) == options


def test_most_may_be_left_out() -> None:
    assert read_options({"strategy": "Rebalance"}) == PlanOptions(strategy=Strategy.REBALANCE)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"strategy": "Guess"}, "strategy"),
        ({}, "generate"),
        ({"strategy": "Rebalance", "engine": "Spark"}, "generate"),
        ({"strategy": "Rebalance", "seed": -1}, "seed"),
        ({"strategy": "Rebalance", "topics": {"include": "a"}}, "topics.include"),
        ({"strategy": "AddBrokers", "brokerIds": [1, -2]}, r"brokerIds\[1\]"),
        ({"strategy": "AddBrokers"}, "brokerIds"),
    ],
)
def test_the_field_is_named(document: dict[str, Any], field: str) -> None:
    with pytest.raises(OptionsRejected, match=f"^{field}: "):
        read_options(document)
