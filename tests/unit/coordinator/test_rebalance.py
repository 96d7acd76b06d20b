"""Gathering, numbering, assigning, and whose time is up."""

import pytest

from ballast.coordinator.rebalance import NEW_MEMBER_JOIN_TIMEOUT_MS
from ballast.coordinator.records import read_group
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.harness import (
    DELAY_MS,
    GROUP,
    REBALANCE_MS,
    SESSION_MS,
    Harness,
)

NONE = ErrorCode.NONE


def test_an_empty_group_waits_anew_for_each_that_joins() -> None:
    harness = Harness()
    first = harness.join()
    harness.advance(DELAY_MS - 1)
    harness.join()
    harness.advance(DELAY_MS)
    assert first == []
    harness.advance(1)
    assert len(first[0].members) == 2


def test_it_does_not_wait_beyond_the_rebalance_timeout() -> None:
    harness = Harness()
    first = harness.join()
    for _ in range(REBALANCE_MS // 200):
        assert first == []
        harness.advance(200)
        harness.join()
    assert first != []


def test_no_delay_is_no_wait() -> None:
    harness = Harness(initial_rebalance_delay_ms=0)
    assert [one.generation_id for one in harness.join()] == [1]


def test_later_rebalances_wait_for_members_only() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    new = harness.join()
    assert harness.heartbeat(leader.member_id, 1) is ErrorCode.REBALANCE_IN_PROGRESS
    again = [harness.join(leader.member_id), harness.join(follower.member_id)]
    assert [one.generation_id for (one,) in [new, *again]] == [2, 2, 2]
    assert set(harness.group.members) == {one.member_id for (one,) in [new, *again]}


def test_who_does_not_join_again_is_put_out() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    again = harness.join(leader.member_id)
    harness.advance(REBALANCE_MS - 1)
    assert again == []
    harness.advance(1)
    assert [member.member_id for member in again[0].members] == [leader.member_id]
    assert harness.heartbeat(follower.member_id, 2) is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_does_not_join_again_stays_until_its_session_ends() -> None:
    harness = Harness()
    leader, follower = harness.stable(2, group_instance_id="")
    again = harness.join(leader.member_id, group_instance_id="instance-0")
    harness.advance(REBALANCE_MS)
    assert {m.member_id for m in again[0].members} == {leader.member_id, follower.member_id}
    harness.advance(SESSION_MS)
    assert follower.member_id not in harness.group.members


def test_who_has_joined_leads_instead_of_a_leader_that_has_not() -> None:
    harness = Harness()
    leader, follower = harness.stable(2, group_instance_id="")
    fields = {"group_instance_id": "instance-1", "protocols": (("range", b"new"),)}
    again = harness.join(follower.member_id, **fields)
    harness.advance(REBALANCE_MS)
    assert again[0].leader_id == follower.member_id
    assert leader.member_id in {member.member_id for member in again[0].members}


def test_a_rebalance_that_nobody_joins_waits_until_the_sessions_end() -> None:
    harness = Harness()
    leader, follower = harness.stable(2, group_instance_id="")
    harness.leave(leader.member_id, "instance-0")
    assert harness.state() is GroupState.PREPARING_REBALANCE
    harness.advance(REBALANCE_MS)
    assert harness.state() is GroupState.PREPARING_REBALANCE
    harness.advance(SESSION_MS)
    assert harness.state() is GroupState.EMPTY
    assert follower.member_id not in harness.group.members


def test_the_assignment_is_stored_before_it_is_handed_out() -> None:
    harness = Harness()
    leader, follower = harness.join(), harness.join()
    harness.advance(REBALANCE_MS)
    harness.journal.holds = True
    assignments = {leader[0].member_id: b"a", "nobody": b"x"}
    synced = [harness.sync(leader[0], assignments), harness.sync(follower[0])]
    assert synced == [[], []]
    assert harness.state() is GroupState.COMPLETING_REBALANCE
    harness.journal.release()
    assert [one.assignment for (one,) in synced] == [b"a", b""]
    assert harness.state() is GroupState.STABLE
    ((partition, [(_, value)]),) = harness.journal.batches
    assert value is not None
    stored = read_group(GROUP, partition, value)
    assert {m.member_id: m.assignment for m in stored.members.values()} == {
        leader[0].member_id: b"a",
        follower[0].member_id: b"",
    }


@pytest.mark.parametrize(
    ("failure", "answer"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.CORRUPT_MESSAGE, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_an_assignment_that_could_not_be_stored(failure: ErrorCode, answer: ErrorCode) -> None:
    harness = Harness()
    leader, follower = harness.join(), harness.join()
    harness.advance(REBALANCE_MS)
    waiting = harness.sync(follower[0])
    harness.journal.error = failure
    synced = harness.sync(leader[0], {leader[0].member_id: b"a"})
    assert [one.error for one in (*synced, *waiting)] == [answer, answer]
    assert harness.state() is GroupState.PREPARING_REBALANCE


def test_an_assignment_of_a_generation_that_has_passed_changes_nothing() -> None:
    harness = Harness()
    leader = harness.join()
    harness.advance(REBALANCE_MS)
    harness.journal.holds = True
    synced = harness.sync(leader[0], {leader[0].member_id: b"old"})
    new = harness.join()
    assert [one.error for one in synced] == [ErrorCode.REBALANCE_IN_PROGRESS]
    again = harness.join(leader[0].member_id)
    assert [one.generation_id for one in (*again, *new)] == [2, 2]
    harness.journal.release()
    assert harness.state() is GroupState.COMPLETING_REBALANCE
    assert harness.group.members[leader[0].member_id].assignment == b""


def test_a_group_whose_last_member_goes_is_stored_empty() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    assert harness.leave(leader.member_id) is NONE
    assert harness.state() is GroupState.EMPTY
    _, value = harness.journal.records[-1]
    assert value is not None
    stored = read_group(GROUP, 0, value)
    assert (stored.state, stored.generation_id) == (GroupState.EMPTY, 2)


# -- whose time is up --------------------------------------------------------------------------


def test_a_session_without_heartbeats_ends() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    for _ in range(2):
        harness.advance(SESSION_MS // 2)
        harness.heartbeat(leader.member_id, 1)
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert set(harness.group.members) == {leader.member_id}
    assert follower.member_id != leader.member_id


def test_heartbeats_keep_a_session_going() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    for _ in range(5):
        harness.advance(SESSION_MS - 1)
        assert harness.heartbeat(leader.member_id, 1) is NONE
    harness.advance(SESSION_MS - 1)
    assert harness.state() is GroupState.STABLE
    harness.advance(1)
    assert harness.state() is GroupState.EMPTY


def test_who_waits_for_the_others_need_not_send_heartbeats() -> None:
    harness = Harness()
    long_ms = 3 * SESSION_MS
    leader, _ = harness.stable(2, rebalance_timeout_ms=long_ms, session_timeout_ms=SESSION_MS)
    follower = next(m for m in harness.group.members.values() if m.member_id != leader.member_id)
    follower.session_timeout_ms = 2 * long_ms
    harness.coordinator.rebalances.restart_session(harness.group, follower)
    again = harness.join(leader.member_id)
    harness.advance(long_ms - 1)
    assert again == []
    harness.advance(1)
    assert [one.error for one in again] == [NONE]


def test_a_new_member_that_waits_too_long_is_sent_back() -> None:
    harness = Harness()
    huge_ms = 2 * NEW_MEMBER_JOIN_TIMEOUT_MS
    (leader,) = harness.stable(session_timeout_ms=1_800_000, rebalance_timeout_ms=huge_ms)
    new = harness.join()
    harness.advance(NEW_MEMBER_JOIN_TIMEOUT_MS)
    assert [one.error for one in new] == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert set(harness.group.members) == {leader.member_id}


def test_who_never_syncs_is_put_out() -> None:
    harness = Harness()
    leader, follower = harness.join(), harness.join()
    harness.advance(REBALANCE_MS)
    harness.sync(leader[0])
    for _ in range(REBALANCE_MS // 100 - DELAY_MS // 100):
        harness.advance(100)
        harness.heartbeat(follower[0].member_id, 1)
    harness.heartbeat(leader[0].member_id, 1)
    harness.advance(DELAY_MS)
    assert set(harness.group.members) == {leader[0].member_id}
    assert harness.state() is GroupState.PREPARING_REBALANCE


def test_a_session_counts_anew_from_the_assignment() -> None:
    harness = Harness()
    leader, follower = (harness.join(rebalance_timeout_ms=60_000) for _ in range(2))
    harness.advance(2 * DELAY_MS)
    waiting = harness.sync(follower[0])
    harness.advance(SESSION_MS - 1)
    harness.sync(leader[0])
    assert [one.error for one in waiting] == [NONE]
    harness.advance(SESSION_MS - 1)
    assert set(harness.group.members) == {leader[0].member_id, follower[0].member_id}
    harness.advance(1)
    assert harness.group.members == {}
