from typing import Any

import pytest

from ballast.planner.errors import OptionsRejected
from ballast.planner.options import PlanOptions, Strategy
from tests.unit.planner.builders import made

CLUSTER = made({1: None, 2: None}, {"a": [[1]], "ab": [[1], [2]], "b": [[2]]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strategy": Strategy.ADD_BROKERS}, "brokerIds: is required for AddBrokers"),
        ({"strategy": Strategy.REMOVE_BROKERS}, "brokerIds: is required for RemoveBrokers"),
        ({"strategy": Strategy.SET_REPLICATION_FACTOR}, "replicationFactor: is required"),
        ({"replication_factor": 3}, "replicationFactor: is for SetReplicationFactor only"),
        (
            {"strategy": Strategy.SET_REPLICATION_FACTOR, "replication_factor": 0},
            "replicationFactor: must be 1 to 32",
        ),
        ({"seed": -1}, "seed: must be between 0 and 2147483647"),
        ({"broker_ids": (1, 1)}, "brokerIds: names a broker twice"),
        ({"start_index": 0}, "startIndex: is a number from 0, for Stock only"),
        ({"max_replica_moves": -1}, "maxReplicaMoves: must not be negative"),
        ({"max_bytes_to_move": -1}, "maxBytesToMove: must not be negative"),
        ({"include": ("(",)}, "topics.include: '(' is no regular expression"),
        ({"exclude": ("*",)}, "topics.exclude: '*' is no regular expression"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionsRejected) as caught:
        PlanOptions(**{"strategy": Strategy.REBALANCE, **given})
    assert str(caught.value).startswith(message)
    assert caught.value.option == message.partition(":")[0]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), [True, True, True, True]),
        (("a",), (), [True, True, True, False]),
        (("^b", "^a$"), (), [True, False, False, True]),
        ((), ("b$",), [True, False, False, False]),
        (("a",), ("b",), [True, False, False, False]),
    ],
)
def test_topics_are_chosen(
    include: tuple[str, ...], exclude: tuple[str, ...], expected: list[bool]
) -> None:
    options = PlanOptions(strategy=Strategy.REBALANCE, include=include, exclude=exclude)
    assert options.in_scope(CLUSTER).tolist() == expected


def test_brokers_are_chosen() -> None:
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(2,))
    assert options.named_brokers(CLUSTER.brokers).tolist() == [False, True]
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(2, 7))
    with pytest.raises(OptionsRejected, match="brokerIds: broker 7 is not in the snapshot"):
        options.named_brokers(CLUSTER.brokers)
