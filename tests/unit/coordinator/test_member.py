from typing import Any

import pytest

from ballast.coordinator.member import Member
from tests.unit.coordinator.harness import BOTH


def member(**fields: Any) -> Member:
    values: dict[str, Any] = {
        "group_instance_id": None,
        "client_id": "c",
        "client_host": "/h",
        "rebalance_timeout_ms": 1,
        "session_timeout_ms": 2,
        "protocol_type": "consumer",
        "protocols": BOTH,
    }
    return Member("m", **{**values, **fields})


def test_it_votes_for_what_it_prefers_of_what_all_support() -> None:
    assert member().vote({"roundrobin", "range"}) == "range"
    assert member().vote({"roundrobin"}) == "roundrobin"


def test_its_metadata_is_per_protocol() -> None:
    assert member().metadata("roundrobin") == b"rr-metadata"


@pytest.mark.parametrize(("instance_id", "is_static"), [(None, False), ("i", True)])
def test_static_members_have_an_instance_id(instance_id: str | None, is_static: bool) -> None:
    assert member(group_instance_id=instance_id).is_static is is_static


@pytest.mark.parametrize("waits_for", ["join_reply", "sync_reply"])
def test_who_waits_counts_as_alive_unless_new(waits_for: str) -> None:
    waiting = member()
    assert not waiting.has_satisfied_heartbeat
    setattr(waiting, waits_for, lambda _: None)
    assert waiting.has_satisfied_heartbeat
    waiting.is_new = True
    assert not waiting.has_satisfied_heartbeat
    waiting.heartbeat_satisfied = True
    assert waiting.has_satisfied_heartbeat
