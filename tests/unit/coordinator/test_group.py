from typing import Any

import pytest

from ballast.coordinator.errors import IllegalTransition
from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.offsets import Expiry
from ballast.coordinator.requests import JoinResult, SyncResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.test_subscriptions import subscription

NOW_MS = 1000


def member(name: str, *protocols: str, **fields: Any) -> Member:
    values: dict[str, Any] = {
        "group_instance_id": None,
        "client_id": "c",
        "client_host": "/h",
        "rebalance_timeout_ms": 100,
        "session_timeout_ms": 2,
        "protocol_type": "consumer",
        "protocols": tuple((p, subscription(name)) for p in protocols or ("range",)),
    }
    return Member(name, **{**values, **fields})


def group_of(*members: Member) -> Group:
    group = Group("g", 0)
    for one in members:
        group.add(one)
    if members:
        group.transition(GroupState.PREPARING_REBALANCE, NOW_MS)
    return group


def test_the_first_member_leads_and_then_the_oldest() -> None:
    group = group_of(member("a"), member("b"), member("c"))
    assert group.is_leader("a")
    group.remove("a")
    assert group.is_leader("b")
    group.remove("c")
    group.remove("b")
    assert group.leader_id is None


@pytest.mark.parametrize(
    ("members", "protocol"),
    [
        ([("a", "range", "sticky"), ("b", "sticky", "range")], "range"),
        ([("a", "range", "sticky"), ("b", "sticky", "range"), ("c", "sticky", "range")], "sticky"),
        ([("a", "range", "sticky"), ("b", "sticky")], "sticky"),
        ([("a", "x", "range", "sticky"), ("b", "y", "sticky", "range")], "range"),
    ],
)
def test_most_votes_of_what_all_support(members: list[tuple[str, ...]], protocol: str) -> None:
    assert group_of(*(member(*one) for one in members)).select_protocol() == protocol


@pytest.mark.parametrize(
    ("protocol_type", "names", "fits"),
    [
        ("consumer", ["range"], True),
        ("consumer", ["x", "range"], True),
        ("consumer", ["sticky"], False),
        ("consumer", [], False),
        ("connect", ["range"], False),
    ],
)
def test_who_could_be_a_member(protocol_type: str, names: list[str], fits: bool) -> None:
    group = group_of(member("a", "range", "sticky"), member("b", "range"))
    assert group.supports(protocol_type, names) is fits


@pytest.mark.parametrize(
    ("protocol_type", "names", "fits"),
    [("any", ["x"], True), ("", ["x"], False), ("any", [], False)],
)
def test_who_could_begin_a_group(protocol_type: str, names: list[str], fits: bool) -> None:
    assert group_of().supports(protocol_type, names) is fits


def test_a_generation_has_a_protocol_and_topics() -> None:
    group = group_of(member("a"), member("b"))
    group.pending_sync_members.add("a")
    group.begin_generation(NOW_MS + 1)
    assert (group.generation_id, group.protocol_name) == (1, "range")
    assert group.state is GroupState.COMPLETING_REBALANCE
    assert group.state_timestamp_ms == NOW_MS + 1
    assert group.subscribed_topics == frozenset({"a", "b"})
    assert group.pending_sync_members == set()
    assert group.is_subscribed("a")
    assert not group.is_subscribed("c")


def test_a_generation_without_members_is_empty() -> None:
    group = group_of(member("a"))
    group.remove("a")
    group.begin_generation(NOW_MS)
    assert (group.generation_id, group.protocol_name) == (1, None)
    assert group.state is GroupState.EMPTY
    assert group.subscribed_topics == frozenset()


def test_topics_of_other_protocols_are_not_known() -> None:
    group = group_of(member("a", protocol_type="connect"))
    group.begin_generation(NOW_MS)
    assert group.subscribed_topics is None
    assert group.is_subscribed("anything")


def test_an_illegal_transition_changes_nothing() -> None:
    group = group_of(member("a"))
    with pytest.raises(IllegalTransition):
        group.transition(GroupState.STABLE, NOW_MS + 5)
    assert group.state is GroupState.PREPARING_REBALANCE
    assert group.state_timestamp_ms == NOW_MS


def test_a_static_member_under_a_new_id_keeps_its_place() -> None:
    joins: list[JoinResult] = []
    syncs: list[SyncResult] = []
    group = group_of(member("a", group_instance_id="i"), member("b"))
    old = group.members["a"]
    old.join_reply, old.sync_reply = joins.append, syncs.append
    group.pending_sync_members.add("a")
    assert group.replace_static("i", "a2") is old
    assert (old.member_id, group.leader_id) == ("a2", "a2")
    assert group.static_members == {"i": "a2"}
    assert group.pending_sync_members == {"a2"}
    assert joins == [JoinResult(error=ErrorCode.FENCED_INSTANCE_ID, member_id="a")]
    assert syncs == [SyncResult(error=ErrorCode.FENCED_INSTANCE_ID)]
    assert group.is_fenced("a", "i")
    assert not group.is_fenced("a2", "i")
    assert not group.is_fenced("a", None)
    assert not group.is_fenced("a", "unknown")
    group.remove("a2")
    assert group.static_members == {}


def test_who_is_put_out_is_answered() -> None:
    joins: list[JoinResult] = []
    syncs: list[SyncResult] = []
    group = group_of(member("a"), member("b"))
    group.members["a"].join_reply = joins.append
    group.members["b"].sync_reply = syncs.append
    group.pending_members.add("c")
    for name in ("a", "b", "c", "nobody"):
        group.remove(name)
    assert [one.error for one in joins] == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert [one.error for one in syncs] == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert group.pending_members == set()


def test_an_earlier_wish_of_the_same_member_is_sent_back() -> None:
    first: list[JoinResult] = []
    first_sync: list[SyncResult] = []
    group = group_of(member("a"))
    one = group.members["a"]
    group.await_join(one, one.protocols, first.append)
    group.await_join(one, (("sticky", b""),), lambda _: None)
    group.await_sync(one, first_sync.append)
    group.await_sync(one, lambda _: None)
    assert [answer.error for answer in first] == [ErrorCode.REBALANCE_IN_PROGRESS]
    assert [answer.error for answer in first_sync] == [ErrorCode.REBALANCE_IN_PROGRESS]
    assert one.protocols == (("sticky", b""),)


def test_all_have_joined_when_nobody_is_awaited() -> None:
    group = group_of(member("a"), member("b"))
    assert not group.has_all_members_joined
    for one in group.members.values():
        group.await_join(one, one.protocols, lambda _: None)
    assert group.has_all_members_joined
    group.pending_members.add("c")
    assert group.is_pending("c")
    assert not group.has_all_members_joined
    group.add(member("c"))
    assert not group.is_pending("c")


def test_a_member_leads_that_has_joined() -> None:
    group = group_of(member("a"), member("b"))
    assert not group.elect_joined_leader()
    assert group.is_leader("a")
    group.members["b"].join_reply = lambda _: None
    assert group.elect_joined_leader()
    assert group.is_leader("b")
    assert not group_of().elect_joined_leader()


def test_the_longest_rebalance_timeout_counts() -> None:
    group = group_of(member("a"), member("b", rebalance_timeout_ms=700))
    assert group.rebalance_timeout_ms == 700
    assert group_of().rebalance_timeout_ms == 0


def test_by_which_rule_offsets_expire() -> None:
    simple = group_of()
    assert simple.expiry(5, 7) == Expiry(now_ms=5, retention_ms=7)
    group = group_of(member("a"))
    group.begin_generation(NOW_MS)
    assert group.expiry(5, 7) is None
    group.transition(GroupState.STABLE, NOW_MS)
    topics = frozenset({"a"})
    assert group.expiry(5, 7) == Expiry(now_ms=5, retention_ms=7, subscribed_topics=topics)
    group.transition(GroupState.PREPARING_REBALANCE, NOW_MS)
    assert group.expiry(5, 7) is None
    group.remove("a")
    group.begin_generation(NOW_MS + 3)
    assert group.expiry(5, 7) == Expiry(now_ms=5, retention_ms=7, base_ms=NOW_MS + 3)
    other = group_of(member("a", protocol_type="connect"))
    assert other.expiry(5, 7) is None
