from typing import Any

import pytest

from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot.fingerprint import layout_digest


def digest(**changes: Any) -> str:
    topic = {"topic": "t", "replicas": [[1, 2], [2, 1]], "bytes": [1, 2], "leaders": [1, 2]}
    names = {"rack", "cordoned"} & {*changes}
    broker = {"id": 1, "rack": "a", **{name: changes.pop(name) for name in names}}
    return layout_digest([BrokerEntry(**broker)], [TopicEntry(**{**topic, **changes})])


@pytest.mark.parametrize(
    "changes", [{"bytes": [3, 4]}, {"leaders": [2, 2]}, {"bytes_in_per_second": [1.0, 2.0]}]
)
def test_what_changes_all_the_time_is_no_part_of_it(changes: dict[str, Any]) -> None:
    assert digest(**changes) == digest()


@pytest.mark.parametrize(
    "changes",
    [{"rack": "b"}, {"cordoned": True}, {"topic": "u"}, {"replicas": [[1, 2], [2, 3]]}],
)
def test_what_a_plan_may_founder_on_is(changes: dict[str, Any]) -> None:
    assert digest(**changes) != digest()
    assert digest(**changes).startswith("sha256:")
