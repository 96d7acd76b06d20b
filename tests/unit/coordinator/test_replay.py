from ballast.coordinator.records import (
    group_record,
    group_tombstone,
    offset_record,
    offset_tombstone,
)
from ballast.coordinator.replay import MAX_REASONS, Replay
from ballast.coordinator.states import GroupState
from tests.unit.coordinator.harness import P0, P1, offset
from tests.unit.coordinator.test_group import group_of, member


def test_the_latest_of_each_key_counts() -> None:
    replay = Replay(5)
    replay.take(0, [offset_record("a", P0, offset(1)), offset_record("a", P1, offset(2))])
    replay.take(2, [offset_record("b", P0, offset(3)), offset_record("a", P0, offset(4))])
    replay.take(4, [offset_tombstone("a", P1)])
    groups = {group.group_id: group for group in replay.groups()}
    assert {name: dict(group.offsets.committed) for name, group in groups.items()} == {
        "a": {P0: offset(4)},
        "b": {P0: offset(3)},
    }
    assert {(group.partition, group.state) for group in groups.values()} == {(5, GroupState.EMPTY)}


def test_offsets_that_are_loaded_are_older_than_any_to_come() -> None:
    replay = Replay(0)
    replay.take(7, [offset_record("a", P0, offset(1))])
    (group,) = replay.groups()
    group.offsets.begin({P0: offset(2)})
    group.offsets.complete({P0: offset(2)}, 6)
    assert group.offsets.get(P0) == offset(1)
    group.offsets.begin({P0: offset(2)})
    group.offsets.complete({P0: offset(2)}, 8)
    assert group.offsets.get(P0) == offset(2)


def test_a_group_has_its_members_and_its_offsets() -> None:
    group = group_of(member("a"))
    group.begin_generation(1)
    replay = Replay(0)
    replay.take(0, [group_record(group, {"a": b"mine"}), offset_record("g", P0, offset(1))])
    (loaded,) = replay.groups()
    assert (loaded.state, loaded.generation_id) == (GroupState.STABLE, 1)
    assert loaded.members["a"].assignment == b"mine"
    assert loaded.offsets.get(P0) == offset(1)


def test_a_group_that_was_ended_keeps_what_was_committed_after_it() -> None:
    group = group_of(member("a"))
    group.begin_generation(1)
    replay = Replay(0)
    replay.take(0, [group_record(group, {"a": b""}), offset_record("g", P0, offset(1))])
    replay.take(2, [group_tombstone("g"), offset_tombstone("g", P0)])
    assert replay.groups() == []
    replay.take(4, [offset_record("g", P0, offset(2))])
    (loaded,) = replay.groups()
    assert (loaded.members, loaded.generation_id) == ({}, 0)
    assert loaded.offsets.get(P0) == offset(2)


def test_what_cannot_be_read_is_passed_over_and_told_of() -> None:
    replay = Replay(0)
    broken = [(b"\0\x09", b""), (offset_record("a", P1, offset(1))[0], b"\0\x07")]
    replay.take(0, [*broken, offset_record("a", P0, offset(1)), (group_tombstone("x")[0], b"")])
    (group,) = replay.groups()
    assert dict(group.offsets.committed) == {P0: offset(1)}
    assert replay.unreadable_count == 3
    assert len(replay.unreadable) == 3
    replay.take(1, broken * MAX_REASONS)
    assert len(replay.unreadable) == MAX_REASONS
    assert replay.unreadable_count == 3 + 2 * MAX_REASONS
