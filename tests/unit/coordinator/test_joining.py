"""Who may join, in Kafka's order of checks (GroupCoordinatorTest.scala, told anew)."""

from typing import Any

import pytest

from ballast.coordinator.requests import JoinedMember, JoinResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.world import (
    BOTH,
    DELAY_MS,
    RANGE,
    REBALANCE_MS,
    SESSION_MS,
    World,
)

NONE = ErrorCode.NONE
OTHER = (("sticky", b"s"),)


def test_one_member_leads_when_the_group_has_gathered() -> None:
    world = World()
    answers = world.join()
    world.advance(DELAY_MS - 1)
    assert answers == []
    assert world.state() is GroupState.PREPARING_REBALANCE
    world.advance(1)
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
    assert world.state() is GroupState.COMPLETING_REBALANCE


def test_only_the_leader_is_told_of_all() -> None:
    world = World()
    first, second = world.join(protocols=BOTH), world.join(protocols=RANGE)
    world.advance(REBALANCE_MS)
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
    (answer,) = World().join(**fields)
    assert answer == JoinResult(error=error, member_id=fields.get("member_id", ""))


@pytest.mark.parametrize("timeout_ms", [6_000, 1_800_000])
def test_session_timeouts_at_the_bounds_are_taken(timeout_ms: int) -> None:
    assert World().join(session_timeout_ms=timeout_ms) == []


@pytest.mark.parametrize(
    "fields",
    [{"protocol_type": "connect"}, {"protocols": OTHER}, {"protocols": (), "member_id": "x"}],
)
def test_what_is_inconsistent_with_the_others(fields: dict[str, Any]) -> None:
    world = World()
    world.stable()
    (answer,) = world.join(**fields)
    assert answer.error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert world.state() is GroupState.STABLE


# -- ids that are given out (KIP-394) ----------------------------------------------------------


def test_a_new_member_is_given_an_id_and_sent_back() -> None:
    world = World()
    (sent_back,) = world.join(requires_known_member_id=True)
    assert sent_back == JoinResult(error=ErrorCode.MEMBER_ID_REQUIRED, member_id="client-id1")
    assert world.group.members == {}
    answers = world.join("client-id1", requires_known_member_id=True)
    world.advance(DELAY_MS)
    assert answers[0].member_id == "client-id1"
    assert world.group.pending_members == set()


def test_an_id_that_is_not_used_in_time_is_forgotten() -> None:
    world = World()
    (sent_back,) = world.join(requires_known_member_id=True)
    world.advance(SESSION_MS - 1)
    assert world.group.pending_members == {"client-id1"}
    world.advance(1)
    assert world.group.pending_members == set()
    (answer,) = world.join(sent_back.member_id)
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_ids_that_were_given_out() -> None:
    world = World()
    (leader,) = world.stable()
    world.join(requires_known_member_id=True)
    again = world.join(leader.member_id)
    world.advance(REBALANCE_MS - 1)
    assert again == []
    world.advance(1)
    assert [answer.error for answer in again] == [NONE]


def test_a_rebalance_ends_when_the_last_awaited_id_leaves() -> None:
    world = World()
    (leader,) = world.stable()
    (pending,) = world.join(requires_known_member_id=True)
    again = world.join(leader.member_id)
    assert world.leave(pending.member_id) is NONE
    assert [answer.error for answer in again] == [NONE]


def test_an_id_that_was_given_out_is_no_static_members() -> None:
    world = World()
    (sent_back,) = world.join(requires_known_member_id=True)
    (answer,) = world.join(sent_back.member_id, group_instance_id="i")
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID
    assert world.group.static_members == {}


# -- joining again -----------------------------------------------------------------------------


def test_a_follower_with_nothing_new_gets_the_present_generation() -> None:
    world = World()
    leader, follower = world.stable(2)
    (answer,) = world.join(follower.member_id)
    assert answer == follower
    assert world.state() is GroupState.STABLE
    assert leader.members != ()


def test_a_leader_that_joins_again_rebalances() -> None:
    world = World()
    leader, follower = world.stable(2)
    again = world.join(leader.member_id)
    assert world.state() is GroupState.PREPARING_REBALANCE
    assert again == []
    world.join(follower.member_id)
    assert again[0].generation_id == 2


def test_a_follower_with_something_new_rebalances() -> None:
    world = World()
    _, follower = world.stable(2)
    assert world.join(follower.member_id, protocols=BOTH) == []
    assert world.state() is GroupState.PREPARING_REBALANCE


@pytest.mark.parametrize("is_leader", [True, False])
def test_who_missed_the_answer_is_told_again_while_the_assignment_is_awaited(
    is_leader: bool,
) -> None:
    world = World()
    answers = [world.join(), world.join()]
    world.advance(REBALANCE_MS)
    joined = next(one for (one,) in answers if bool(one.members) is is_leader)
    assert world.join(joined.member_id) == [joined]
    assert world.state() is GroupState.COMPLETING_REBALANCE


def test_something_new_while_the_assignment_is_awaited_rebalances() -> None:
    world = World()
    leader = world.join()
    follower = world.join()
    world.advance(REBALANCE_MS)
    synced = world.sync(follower[0])
    assert world.join(leader[0].member_id, protocols=BOTH) == []
    assert world.state() is GroupState.PREPARING_REBALANCE
    assert [answer.error for answer in synced] == [ErrorCode.REBALANCE_IN_PROGRESS]


def test_a_member_that_asks_twice_is_answered_twice() -> None:
    world = World()
    (leader, _) = world.stable(2)
    first = world.join(leader.member_id)
    second = world.join(leader.member_id)
    assert [answer.error for answer in first] == [ErrorCode.REBALANCE_IN_PROGRESS]
    world.advance(REBALANCE_MS)
    assert [answer.error for answer in second] == [NONE]


# -- the size of groups ------------------------------------------------------------------------


def test_a_full_group_takes_nobody_else() -> None:
    world = World(max_size=2)
    world.stable(2)
    (answer,) = world.join()
    assert answer == JoinResult(error=ErrorCode.GROUP_MAX_SIZE_REACHED)
    assert world.state() is GroupState.STABLE


def test_the_first_to_join_again_keep_their_places() -> None:
    world = World(max_size=2)
    leader, follower = world.stable(2)
    world.join(leader.member_id)
    assert world.state() is GroupState.PREPARING_REBALANCE
    new = world.join()
    (late,) = world.join(follower.member_id)
    assert late == JoinResult(error=ErrorCode.GROUP_MAX_SIZE_REACHED)
    assert new[0].error is NONE
    assert set(world.group.members) == {leader.member_id, new[0].member_id}


# -- static members (KIP-345) ------------------------------------------------------------------


def test_a_static_member_is_taken_at_once() -> None:
    world = World()
    answers = world.join(group_instance_id="i")
    world.advance(DELAY_MS)
    assert answers[0].member_id == "i-id1"
    assert answers[0].members == (JoinedMember("i-id1", "i", b"range-metadata"),)
    assert world.group.static_members == {"i": "i-id1"}


def test_a_static_member_that_restarts_gets_its_assignment_back() -> None:
    world = World()
    leader, follower = world.stable(2, group_instance_id="")
    (again,) = world.join(group_instance_id="instance-1")
    assert world.state() is GroupState.STABLE
    assert again.error is NONE
    assert again.member_id not in (leader.member_id, follower.member_id)
    assert (again.generation_id, again.leader_id) == (1, leader.member_id)
    assert again.members == ()
    (synced,) = world.sync(again)
    assert synced.assignment == b"to " + follower.member_id.encode()
    assert [key[-5:] for key, _ in world.journal.records] == [b"group", b"group"]


def test_a_static_leader_that_restarts_does_not_assign() -> None:
    """Nobody would hand its assignment out; it is told that the leader is who it was before."""
    world = World()
    leader, _ = world.stable(2, group_instance_id="")
    (again,) = world.join(group_instance_id="instance-0")
    assert again.leader_id == leader.member_id
    assert again.member_id == world.group.leader_id != leader.member_id


def test_a_restart_that_could_not_be_stored_is_undone() -> None:
    world = World()
    _, follower = world.stable(2, group_instance_id="")
    world.journal.error = ErrorCode.NOT_ENOUGH_REPLICAS
    (again,) = world.join(group_instance_id="instance-1", protocols=(("range", b"new"),))
    assert again.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert again.member_id == ""
    assert world.group.static_members["instance-1"] == follower.member_id
    assert world.group.members[follower.member_id].protocols == RANGE
    assert world.heartbeat(follower.member_id, 1) is NONE


def test_a_restart_that_changes_the_choice_of_protocol_rebalances() -> None:
    world = World()
    world.stable(2, group_instance_id="", protocols=BOTH)
    swapped = (BOTH[1], BOTH[0])
    assert world.join(group_instance_id="instance-0", protocols=swapped[:1]) == []
    assert world.state() is GroupState.PREPARING_REBALANCE


def test_a_restart_while_the_assignment_is_awaited_rebalances() -> None:
    world = World()
    answers = [world.join(group_instance_id=f"i{n}") for n in range(2)]
    world.advance(REBALANCE_MS)
    assert world.join(group_instance_id="i1") == []
    assert world.state() is GroupState.PREPARING_REBALANCE
    assert answers[1][0].member_id not in world.group.members


def test_who_was_replaced_is_fenced() -> None:
    world = World()
    _, follower = world.stable(2, group_instance_id="")
    world.join(group_instance_id="instance-1")
    (answer,) = world.join(follower.member_id, group_instance_id="instance-1")
    assert answer == JoinResult(error=ErrorCode.FENCED_INSTANCE_ID, member_id=follower.member_id)


def test_a_member_that_invents_an_instance_id_is_unknown() -> None:
    world = World()
    (leader,) = world.stable()
    (answer,) = world.join(leader.member_id, group_instance_id="i")
    assert answer.error is ErrorCode.UNKNOWN_MEMBER_ID
