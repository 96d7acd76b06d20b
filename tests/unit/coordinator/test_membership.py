"""Heartbeat, SyncGroup and LeaveGroup, in Kafka's order of checks."""

from typing import Any

import pytest

from ballast.coordinator.requests import MemberReference, SyncResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.harness import DELAY_MS, REBALANCE_MS, Harness

NONE = ErrorCode.NONE

# Who asks, of a stable group with the static member "s" in generation 1, and what is wrong.
REFUSED = [
    (MemberReference(member_id="nobody", generation_id=1), ErrorCode.UNKNOWN_MEMBER_ID),
    (MemberReference(member_id="nobody", generation_id=7), ErrorCode.UNKNOWN_MEMBER_ID),
    (
        MemberReference(member_id="nobody", group_instance_id="s", generation_id=7),
        ErrorCode.FENCED_INSTANCE_ID,
    ),
    (MemberReference(member_id="s-id1", generation_id=0), ErrorCode.ILLEGAL_GENERATION),
    (MemberReference(member_id="s-id1", generation_id=2), ErrorCode.ILLEGAL_GENERATION),
]


@pytest.fixture
def harness() -> Harness:
    made = Harness()
    answers = made.join(group_instance_id="s")
    made.advance(DELAY_MS)
    made.sync(answers[0], {"s-id1": b"mine"})
    assert made.state() is GroupState.STABLE
    return made


@pytest.mark.parametrize(("identity", "error"), REFUSED)
def test_heartbeats_of_others_are_refused(
    harness: Harness, identity: MemberReference, error: ErrorCode
) -> None:
    assert harness.coordinator.heartbeat("group", identity) is error


@pytest.mark.parametrize(("identity", "error"), REFUSED)
def test_syncs_of_others_are_refused(
    harness: Harness, identity: MemberReference, error: ErrorCode
) -> None:
    assert harness.sync_as(identity) == [SyncResult(error=error)]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"protocol_type": None, "protocol_name": None}, NONE),
        ({"protocol_type": "consumer", "protocol_name": "range"}, NONE),
        ({"protocol_type": "connect"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_the_protocol_is_checked_where_it_is_named(
    harness: Harness, fields: dict[str, Any], error: ErrorCode
) -> None:
    identity = MemberReference(member_id="s-id1", generation_id=1)
    (answer,) = harness.sync_as(identity, **fields)
    assert answer.error is error
    assert answer.assignment == (b"mine" if error is NONE else b"")


def test_a_sync_during_a_rebalance_sends_back(harness: Harness) -> None:
    harness.join()
    (answer,) = harness.sync_as(MemberReference(member_id="s-id1", generation_id=1))
    assert answer == SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS)


def test_a_sync_is_a_sign_of_life(harness: Harness) -> None:
    for _ in range(3):
        harness.advance(9_000)
        harness.sync_as(MemberReference(member_id="s-id1", generation_id=1))
    assert harness.state() is GroupState.STABLE


@pytest.mark.parametrize(
    ("error", "steps"),
    [
        (NONE, lambda _world: None),
        (ErrorCode.REBALANCE_IN_PROGRESS, lambda harness: harness.join()),
    ],
)
def test_heartbeats_tell_of_rebalances(harness: Harness, error: ErrorCode, steps: Any) -> None:
    steps(harness)
    assert harness.heartbeat("s-id1", 1) is error


def test_heartbeats_while_the_assignment_is_awaited() -> None:
    harness = Harness()
    answers = harness.join()
    harness.advance(DELAY_MS)
    assert harness.heartbeat(answers[0].member_id, 1) is NONE


# -- leaving -----------------------------------------------------------------------------------


def test_the_others_share_the_work_of_who_leaves() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    assert harness.leave(follower.member_id) is NONE
    assert harness.state() is GroupState.PREPARING_REBALANCE
    (again,) = harness.join(leader.member_id)
    assert [member.member_id for member in again.members] == [leader.member_id]


def test_a_rebalance_need_not_wait_for_who_leaves() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    again = harness.join(leader.member_id)
    assert again == []
    harness.leave(follower.member_id)
    assert [one.error for one in again] == [NONE]


@pytest.mark.parametrize(
    ("member_id", "instance_id", "error"),
    [
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("nobody", "s", ErrorCode.FENCED_INSTANCE_ID),
        ("", "s", NONE),
        ("s-id1", "s", NONE),
        ("s-id1", None, NONE),
    ],
)
def test_who_may_leave(
    harness: Harness, member_id: str, instance_id: str | None, error: ErrorCode
) -> None:
    assert harness.leave(member_id, instance_id) is error
    assert (harness.group.members == {}) is (error is NONE)


def test_each_that_leaves_is_answered(harness: Harness) -> None:
    leaving = [
        MemberReference(member_id="x"),
        MemberReference(member_id="", group_instance_id="s"),
        MemberReference(member_id="", group_instance_id="s"),
    ]
    assert harness.coordinator.leave("group", leaving) == (
        NONE,
        [ErrorCode.UNKNOWN_MEMBER_ID, NONE, ErrorCode.UNKNOWN_MEMBER_ID],
    )


def test_the_session_of_who_has_left_is_over(harness: Harness) -> None:
    harness.leave("s-id1", "s")
    again = harness.join(group_instance_id="s")
    harness.advance(REBALANCE_MS)
    harness.sync(again[0])
    harness.advance(6_000)
    assert harness.state() is GroupState.STABLE
