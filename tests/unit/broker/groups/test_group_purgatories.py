"""When each wait of a group ends; what follows is in tests/unit/coordinator."""

from functools import partial
from typing import Any

import pytest

from ballast.broker.groups.group_purgatories import GroupPurgatories
from ballast.coordinator.group import Group
from ballast.coordinator.states import GroupState
from tests.fakes.group_ports import ManualTimer
from tests.unit.coordinator.test_group import group_of, member


class Waiting:
    """A group of two members, and what has been called."""

    def __init__(self) -> None:
        self.timer = ManualTimer()
        self.purgatories = GroupPurgatories(self.timer)
        self.group: Group = group_of(member("a"), member("b"))
        self.calls = 0

    def call(self) -> None:
        self.calls += 1

    def join(self, *names: str) -> None:
        for name in names:
            self.group.members[name].join_reply = lambda _: None

    def die(self) -> None:
        self.group.transition(GroupState.DEAD, 1)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


def test_a_join_is_done_when_all_have_joined(waiting: Waiting) -> None:
    waiting.purgatories.expect_members(waiting.group, 100, waiting.call)
    waiting.join("a")
    waiting.purgatories.members_changed(waiting.group)
    assert waiting.calls == 0
    waiting.join("b")
    waiting.purgatories.members_changed(waiting.group)
    assert waiting.calls == 1
    waiting.timer.advance(1000)
    assert waiting.calls == 1


def test_a_join_is_done_when_time_is_up(waiting: Waiting) -> None:
    waiting.purgatories.expect_members(waiting.group, 100, waiting.call)
    waiting.timer.advance(99)
    assert waiting.calls == 0
    waiting.timer.advance(1)
    assert waiting.calls == 1


def test_gathering_ends_with_time_only(waiting: Waiting) -> None:
    waiting.purgatories.gather_members(waiting.group, 100, waiting.call)
    waiting.join("a", "b")
    waiting.purgatories.members_changed(waiting.group)
    assert waiting.calls == 0
    waiting.timer.advance(100)
    assert waiting.calls == 1


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({}, 1),
        ({"pending_sync_members": set()}, 0),
        ({"generation_id": 7}, 0),
        ({"state": GroupState.PREPARING_REBALANCE}, 0),
        ({"state": GroupState.STABLE}, 1),
    ],
)
def test_syncs_expire_if_they_are_still_awaited(
    waiting: Waiting, changes: dict[str, Any], calls: int
) -> None:
    group = waiting.group
    group.state = GroupState.COMPLETING_REBALANCE
    group.pending_sync_members.add("a")
    waiting.purgatories.expect_syncs(group, 100, waiting.call)
    for name, value in changes.items():
        setattr(group, name, value)
    waiting.timer.advance(100)
    assert waiting.calls == calls


def test_the_last_sync_ends_the_wait(waiting: Waiting) -> None:
    group = waiting.group
    group.state = GroupState.COMPLETING_REBALANCE
    group.pending_sync_members.add("a")
    waiting.purgatories.expect_syncs(group, 100, waiting.call)
    group.pending_sync_members.clear()
    waiting.purgatories.syncs_changed(group)
    assert waiting.purgatories.syncs.delayed_count == 0


@pytest.mark.parametrize("sign", ["heartbeat_satisfied", "is_leaving"])
def test_a_heartbeat_ends_its_wait(waiting: Waiting, sign: str) -> None:
    one = waiting.group.members["a"]
    waiting.purgatories.expect_heartbeat(waiting.group, one, 100, waiting.call)
    waiting.purgatories.member_changed(waiting.group, "a")
    assert waiting.purgatories.heartbeats.delayed_count == 1
    setattr(one, sign, True)
    waiting.purgatories.member_changed(waiting.group, "a")
    assert waiting.purgatories.heartbeats.delayed_count == 0
    assert waiting.calls == 0


def test_a_session_ends_unless_the_member_waits_itself(waiting: Waiting) -> None:
    for name in ("a", "b"):
        one = waiting.group.members[name]
        waiting.purgatories.expect_heartbeat(waiting.group, one, 100, waiting.call)
    waiting.join("b")
    waiting.timer.advance(100)
    assert waiting.calls == 1


def test_a_session_under_an_old_id_does_not_count() -> None:
    waiting = Waiting()
    one = member("s", group_instance_id="i")
    waiting.group.add(one)
    waiting.purgatories.expect_heartbeat(waiting.group, one, 100, waiting.call)
    waiting.group.replace_static("i", "s2")
    waiting.timer.advance(100)
    assert waiting.calls == 0


def test_an_id_is_waited_for_until_it_is_used(waiting: Waiting) -> None:
    for name in ("c", "d"):
        waiting.group.pending_members.add(name)
        waiting.purgatories.expect_pending_member(waiting.group, name, "/h", 100, waiting.call)
    waiting.group.add(member("c"))
    waiting.purgatories.member_changed(waiting.group, "c")
    assert waiting.purgatories.heartbeats.delayed_count == 1
    waiting.timer.advance(100)
    assert waiting.calls == 1


def test_nothing_follows_in_a_dead_group(waiting: Waiting) -> None:
    group, purgatories = waiting.group, waiting.purgatories
    group.state = GroupState.COMPLETING_REBALANCE
    group.pending_sync_members.add("a")
    group.pending_members.add("c")
    purgatories.expect_members(group, 100, waiting.call)
    purgatories.gather_members(group, 100, waiting.call)
    purgatories.expect_syncs(group, 100, waiting.call)
    purgatories.expect_heartbeat(group, group.members["a"], 100, waiting.call)
    purgatories.expect_pending_member(group, "c", "/h", 100, waiting.call)
    waiting.die()
    purgatories.members_changed(group)
    purgatories.syncs_changed(group)
    for name in ("a", "c"):
        purgatories.member_changed(group, name)
    assert purgatories.joins.delayed_count + purgatories.syncs.delayed_count == 0
    assert purgatories.heartbeats.delayed_count == 0
    purgatories.expect_members(group, 100, waiting.call)
    waiting.timer.advance(1000)
    purgatories.shut_down()
    assert waiting.calls == 0


def test_an_address_with_more_than_its_share_of_members_gets_no_more() -> None:
    timer = ManualTimer()
    purgatories = GroupPurgatories(timer, max_members=4)
    group, ended = group_of(), list[str]()
    for name in "abcdef":
        group.pending_members.add(name)
        purgatories.expect_pending_member(group, name, "/flood", 100, partial(ended.append, name))
    assert ended == ["e", "f"]
    group.pending_members.add("g")
    purgatories.expect_pending_member(group, "g", "/other", 100, partial(ended.append, "g"))
    assert ended == ["e", "f"]
    timer.advance(100)
    assert ended == ["e", "f", "a", "b", "c", "d", "g"]
    purgatories.expect_pending_member(group, "a", "/flood", 100, partial(ended.append, "again"))
    assert purgatories.heartbeats.delayed_count == 1
