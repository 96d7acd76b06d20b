"""Which groups are answered for, from a partition's loading to its end here."""

import pytest

from ballast.coordinator.group import Group
from ballast.coordinator.records import read_group
from ballast.coordinator.requests import JoinResult, MemberReference, SyncResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.harness import (
    DELAY_MS,
    GROUP,
    P0,
    REBALANCE_MS,
    SESSION_MS,
    Harness,
    offset,
)

NONE = ErrorCode.NONE
SOMEBODY = MemberReference(member_id="m", generation_id=1)


def stored(harness: Harness) -> Group:
    """Return the group as it was last stored, as the next coordinator reads it."""
    _, value = harness.journal.records[-1]
    assert value is not None
    return read_group(GROUP, 0, value)


@pytest.mark.parametrize(
    ("group_id", "may_be_empty", "error"),
    [
        (GROUP, False, NONE),
        ("", False, ErrorCode.INVALID_GROUP_ID),
        ("", True, NONE),
        ("elsewhere", False, ErrorCode.NOT_COORDINATOR),
    ],
)
def test_whose_requests_are_answered(group_id: str, may_be_empty: bool, error: ErrorCode) -> None:
    assert Harness().coordinator.check(group_id, may_be_empty=may_be_empty) is error


def test_what_is_answered_while_groups_are_loading() -> None:
    harness = Harness()
    coordinator = harness.coordinator
    coordinator.begin_loading(0)
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert coordinator.is_loading
    assert harness.join() == [JoinResult(error=loading)]
    assert harness.sync_as(SOMEBODY) == [SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS)]
    assert coordinator.heartbeat(GROUP, SOMEBODY) is NONE
    assert coordinator.leave(GROUP, [SOMEBODY]) == (loading, [])
    assert harness.commit({P0: offset(1)}) == [{P0: loading}]
    assert coordinator.delete_group(GROUP) is loading
    assert coordinator.delete_offsets(GROUP, [P0]) == (loading, {})
    coordinator.finish_loading(0, [])
    assert not coordinator.is_loading
    assert coordinator.check(GROUP) is NONE


def test_what_is_answered_of_a_group_that_is_not_there() -> None:
    harness = Harness()
    coordinator, unknown = harness.coordinator, ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.sync_as(SOMEBODY) == [SyncResult(error=unknown)]
    assert coordinator.heartbeat(GROUP, SOMEBODY) is unknown
    assert coordinator.leave(GROUP, [SOMEBODY, SOMEBODY]) == (NONE, [unknown, unknown])
    assert coordinator.groups == ()


def test_what_is_answered_elsewhere() -> None:
    harness = Harness()
    harness.coordinator.unload(0)
    elsewhere = ErrorCode.NOT_COORDINATOR
    assert harness.join() == [JoinResult(error=elsewhere)]
    assert harness.sync_as(SOMEBODY) == [SyncResult(error=elsewhere)]
    assert harness.coordinator.heartbeat(GROUP, SOMEBODY) is elsewhere
    assert harness.coordinator.leave(GROUP, [SOMEBODY]) == (elsewhere, [])
    assert harness.commit({P0: offset(1)}) == [{P0: elsewhere}]


def test_who_waits_is_told_that_the_coordinator_has_moved() -> None:
    harness = Harness()
    leader, _ = harness.stable(2)
    waiting = harness.join(leader.member_id)
    harness.coordinator.unload(0)
    assert waiting == [JoinResult(error=ErrorCode.NOT_COORDINATOR, member_id=leader.member_id)]
    assert harness.coordinator.groups == ()
    before = len(harness.journal.records)
    harness.advance(10 * SESSION_MS)
    assert len(harness.journal.records) == before


def test_who_waits_for_an_assignment_is_told_too() -> None:
    harness = Harness()
    first, second = harness.join(), harness.join()
    harness.advance(REBALANCE_MS)
    follower = next(one for (one,) in (first, second) if not one.members)
    waiting = harness.sync(follower)
    harness.coordinator.unload(0)
    assert waiting == [SyncResult(error=ErrorCode.NOT_COORDINATOR)]


def test_an_assignment_that_is_stored_after_the_move_changes_nothing() -> None:
    harness = Harness()
    leader = harness.join()
    harness.advance(DELAY_MS)
    harness.journal.holds = True
    synced = harness.sync(leader[0], {leader[0].member_id: b"a"})
    group = harness.group
    harness.coordinator.unload(0)
    harness.journal.release()
    assert [one.error for one in synced] == [ErrorCode.NOT_COORDINATOR]
    assert group.state is GroupState.DEAD


def test_only_the_groups_of_the_partition_go() -> None:
    harness = Harness()
    harness.commit({P0: offset(1)})
    harness.coordinator.unload(1)
    assert harness.group.offsets.get(P0) == offset(1)


def test_the_next_coordinator_goes_on_with_the_members() -> None:
    before = Harness()
    leader, follower = before.stable(2)
    harness = Harness()
    harness.coordinator.begin_loading(0)
    harness.coordinator.finish_loading(0, [stored(before)])
    assert harness.state() is GroupState.STABLE
    assert harness.group.leader_id == leader.member_id
    harness.advance(SESSION_MS - 1)
    assert harness.heartbeat(follower.member_id, 1) is NONE
    assert harness.sync(follower)[0].assignment == b"to " + follower.member_id.encode()
    harness.advance(1)
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert leader.member_id not in harness.group.members


def test_a_loaded_group_that_is_too_large_is_rebalanced() -> None:
    before = Harness()
    members = before.stable(3)
    harness = Harness(max_size=2)
    harness.coordinator.begin_loading(0)
    harness.coordinator.finish_loading(0, [stored(before)])
    assert harness.state() is GroupState.PREPARING_REBALANCE
    answers = [harness.join(member.member_id) for member in members]
    harness.advance(REBALANCE_MS)
    errors = sorted(one.error for (one,) in answers)
    assert errors == [NONE, NONE, ErrorCode.GROUP_MAX_SIZE_REACHED]


def test_after_the_end_nobody_is_served() -> None:
    harness = Harness()
    leader, _ = harness.stable(2)
    waiting = harness.join(leader.member_id)
    harness.coordinator.shut_down()
    assert [one.error for one in waiting] == [ErrorCode.NOT_COORDINATOR]
    assert harness.coordinator.check(GROUP) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    harness.timer.shut_down()
    assert harness.coordinator.groups == ()
