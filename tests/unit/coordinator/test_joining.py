"""Who may join, in Kafka's order of checks (GroupCoordinatorTest.scala, told anew)."""

from typing import Any

import pytest

from ballast.coordinator.requests import JoinedMember, JoinResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.harness import (
    BOTH,
    DELAY_MS,
    RANGE,
    REBALANCE_MS,
    SESSION_MS,
    Harness,
)

NONE = ErrorCode.NONE
OTHER = (("sticky", b"s"),)


def test_one_member_leads_when_the_group_has_gathered() -> None:
    harness = Harness()
    answers = harness.join()
    harness.advance(DELAY_MS - 1)
    assert answers == []
    assert harness.state() is GroupState.PREPARING_REBALANCE
    harness.advance(1)
    assert answers == [
        JoinResult(
            member_id="client-id1",
            generation_id=1,
            protocol_type="consumer",
            protocol_name="range",
            leader_id="client-id1",
            members=(JoinedMember("client-id1", None, b"range-metadata"),),
        )
    ]
    assert harness.state() is GroupState.COMPLETING_REBALANCE


def test_only_the_leader_is_told_of_all() -> None:
    harness = Harness()
    first, second = harness.join(protocols=BOTH), harness.join(protocols=RANGE)
    harness.advance(REBALANCE_MS)
    assert [member.member_id for member in first[0].members] == ["client-id1", "client-id2"]
    assert second[0].members == ()
    assert second[0].leader_id == "client-id1"
    assert {first[0].protocol_name, second[0].protocol_name} == {"range"}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "elsewhere"}, ErrorCode.NOT_COORDINATOR),
        ({"session_timeout_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"group_id": "elsewhere", "session_timeout_ms": 1}, ErrorCode.NOT_COORDINATOR),
        ({"member_id": "nobody"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"member_id": "nobody", "session_timeout_ms": 1}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": ()}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_what_is_refused_of_a_group_that_is_not_there(
    fields: dict[str, Any], error: ErrorCode
) -> None:
    (answer,) = Harness().join(**fields)
    assert answer == JoinResult(error=error, member_id=fields.get("member_id", ""))


@pytest.mark.parametrize("timeout_ms", [6_000, 1_800_000])
def test_session_timeouts_at_the_bounds_are_taken(timeout_ms: int) -> None:
    assert Harness().join(session_timeout_ms=timeout_ms) == []


@pytest.mark.parametrize(
    "fields",
    [{"protocol_type": "connect"}, {"protocols": OTHER}, {"protocols": (), "member_id": "x"}],
)
def test_what_is_inconsistent_with_the_others(fields: dict[str, Any]) -> None:
    harness = Harness()
    harness.stable()
    (answer,) = harness.join(**fields)
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert harness.state() is GroupState.STABLE


# -- ids that are given out (KIP-394) ----------------------------------------------------------


def test_a_new_member_is_given_an_id_and_sent_back() -> None:
    harness = Harness()
    (sent_back,) = harness.join(requires_known_member_id=True)
    assert sent_back == JoinResult(error=ErrorCode.MEMBER_ID_REQUIRED, member_id="client-id1")
    assert harness.group.members == {}
    answers = harness.join("client-id1", requires_known_member_id=True)
    harness.advance(DELAY_MS)
    assert answers[0].member_id == "client-id1"
    assert harness.group.pending_members == set()


def test_an_id_that_is_not_used_in_time_is_forgotten() -> None:
    harness = Harness()
    (sent_back,) = harness.join(requires_known_member_id=True)
    harness.advance(SESSION_MS - 1)
    assert harness.group.pending_members == {"client-id1"}
    harness.advance(1)
    assert harness.group.pending_members == set()
    (answer,) = harness.join(sent_back.member_id)
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_ids_that_were_given_out() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    harness.join(requires_known_member_id=True)
    again = harness.join(leader.member_id)
    harness.advance(REBALANCE_MS - 1)
    assert again == []
    harness.advance(1)
    assert [answer.error for answer in again] == [NONE]


def test_a_rebalance_ends_when_the_last_awaited_id_leaves() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    (pending,) = harness.join(requires_known_member_id=True)
    again = harness.join(leader.member_id)
    assert harness.leave(pending.member_id) is NONE
    assert [answer.error for answer in again] == [NONE]


def test_an_id_that_was_given_out_is_no_static_members() -> None:
    harness = Harness()
    (sent_back,) = harness.join(requires_known_member_id=True)
    (answer,) = harness.join(sent_back.member_id, group_instance_id="i")
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert harness.group.static_members == {}


# -- joining again -----------------------------------------------------------------------------


def test_a_follower_with_nothing_new_gets_the_present_generation() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    (answer,) = harness.join(follower.member_id)
    assert answer == follower
    assert harness.state() is GroupState.STABLE
    assert leader.members != ()


def test_a_leader_that_joins_again_rebalances() -> None:
    harness = Harness()
    leader, follower = harness.stable(2)
    again = harness.join(leader.member_id)
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert again == []
    harness.join(follower.member_id)
    assert again[0].generation_id == 2


def test_a_follower_with_something_new_rebalances() -> None:
    harness = Harness()
    _, follower = harness.stable(2)
    assert harness.join(follower.member_id, protocols=BOTH) == []
    assert harness.state() is GroupState.PREPARING_REBALANCE


@pytest.mark.parametrize("is_leader", [True, False])
def test_who_missed_the_answer_is_told_again_while_the_assignment_is_awaited(
    is_leader: bool,
) -> None:
    harness = Harness()
    answers = [harness.join(), harness.join()]
    harness.advance(REBALANCE_MS)
    joined = next(one for (one,) in answers if bool(one.members) is is_leader)
    assert harness.join(joined.member_id) == [joined]
    assert harness.state() is GroupState.COMPLETING_REBALANCE


def test_something_new_while_the_assignment_is_awaited_rebalances() -> None:
    harness = Harness()
    leader = harness.join()
    follower = harness.join()
    harness.advance(REBALANCE_MS)
    synced = harness.sync(follower[0])
    assert harness.join(leader[0].member_id, protocols=BOTH) == []
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert [answer.error for answer in synced] == [ErrorCode.REBALANCE_IN_PROGRESS]


def test_a_member_that_asks_twice_is_answered_twice() -> None:
    harness = Harness()
    (leader, _) = harness.stable(2)
    first = harness.join(leader.member_id)
    second = harness.join(leader.member_id)
    assert [answer.error for answer in first] == [ErrorCode.REBALANCE_IN_PROGRESS]
    harness.advance(REBALANCE_MS)
    assert [answer.error for answer in second] == [NONE]


# -- the size of groups ------------------------------------------------------------------------


def test_a_full_group_takes_nobody_else() -> None:
    harness = Harness(max_size=2)
    harness.stable(2)
    (answer,) = harness.join()
    assert answer == JoinResult(error=ErrorCode.GROUP_MAX_SIZE_REACHED)
    assert harness.state() is GroupState.STABLE


def test_the_first_to_join_again_keep_their_places() -> None:
    harness = Harness(max_size=2)
    leader, follower = harness.stable(2)
    harness.join(leader.member_id)
    assert harness.state() is GroupState.PREPARING_REBALANCE
    new = harness.join()
    (late,) = harness.join(follower.member_id)
    assert late == JoinResult(error=ErrorCode.GROUP_MAX_SIZE_REACHED)
    assert new[0].error is NONE
    assert set(harness.group.members) == {leader.member_id, new[0].member_id}


# -- static members (KIP-345) ------------------------------------------------------------------


def test_a_static_member_is_taken_at_once() -> None:
    harness = Harness()
    answers = harness.join(group_instance_id="i")
    harness.advance(DELAY_MS)
    assert answers[0].member_id == "i-id1"
    assert answers[0].members == (JoinedMember("i-id1", "i", b"range-metadata"),)
    assert harness.group.static_members == {"i": "i-id1"}


def test_a_static_member_that_restarts_gets_its_assignment_back() -> None:
    harness = Harness()
    leader, follower = harness.stable(2, group_instance_id="")
    (again,) = harness.join(group_instance_id="instance-1")
    assert harness.state() is GroupState.STABLE
    assert again.error is NONE
    assert again.member_id not in (leader.member_id, follower.member_id)
    assert (again.generation_id, again.leader_id) == (1, leader.member_id)
    assert again.members == ()
    (synced,) = harness.sync(again)
    assert synced.assignment == b"to " + follower.member_id.encode()
    assert [key[-5:] for key, _ in harness.journal.records] == [b"group", b"group"]


def test_a_static_leader_that_restarts_does_not_assign() -> None:
    """Nobody would hand its assignment out; it is told that the leader is who it was before."""
    harness = Harness()
    leader, _ = harness.stable(2, group_instance_id="")
    (again,) = harness.join(group_instance_id="instance-0")
    assert again.leader_id == leader.member_id
    assert again.member_id == harness.group.leader_id != leader.member_id


def test_a_restart_that_could_not_be_stored_is_undone() -> None:
    harness = Harness()
    _, follower = harness.stable(2, group_instance_id="")
    harness.journal.error = ErrorCode.NOT_ENOUGH_REPLICAS
    (again,) = harness.join(group_instance_id="instance-1", protocols=(("range", b"new"),))
    assert again.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert again.member_id == ""
    assert harness.group.static_members["instance-1"] == follower.member_id
    assert harness.group.members[follower.member_id].protocols == RANGE
    assert harness.heartbeat(follower.member_id, 1) is NONE


def test_a_restart_that_changes_the_choice_of_protocol_rebalances() -> None:
    harness = Harness()
    harness.stable(2, group_instance_id="", protocols=BOTH)
    swapped = (BOTH[1], BOTH[0])
    assert harness.join(group_instance_id="instance-0", protocols=swapped[:1]) == []
    assert harness.state() is GroupState.PREPARING_REBALANCE


def test_a_restart_while_the_assignment_is_awaited_rebalances() -> None:
    harness = Harness()
    answers = [harness.join(group_instance_id=f"i{n}") for n in range(2)]
    harness.advance(REBALANCE_MS)
    assert harness.join(group_instance_id="i1") == []
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert answers[1][0].member_id not in harness.group.members


def test_who_was_replaced_is_fenced() -> None:
    harness = Harness()
    _, follower = harness.stable(2, group_instance_id="")
    harness.join(group_instance_id="instance-1")
    (answer,) = harness.join(follower.member_id, group_instance_id="instance-1")
    assert answer == JoinResult(error=ErrorCode.FENCED_INSTANCE_ID, member_id=follower.member_id)


def test_a_member_that_invents_an_instance_id_is_unknown() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    (answer,) = harness.join(leader.member_id, group_instance_id="i")
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID
