"""Records of ``__consumer_offsets``; the bytes were written by Kafka 2.8.2."""

import pytest

from ballast.coordinator.errors import UnreadableRecord
from ballast.coordinator.group import Group
from ballast.coordinator.records import (
    GroupKey,
    OffsetKey,
    group_record,
    group_tombstone,
    offset_record,
    offset_tombstone,
    read_group,
    read_key,
    read_offset,
)
from ballast.coordinator.requests import CommittedOffset
from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition

SIMPLE_P1 = OffsetKey("simple", TopicPartition("orders", 1))
OFFSET_KEY = "0001000673696d706c6500066f726465727300000001"
WITH_RETENTION = "0001000000000000002a00016d000001a20017f46e000001a20018dece"
WITHOUT_RETENTION = "00030000000000000005000000000000000001a20017f513"
WITH_EPOCH = "000300000000000000070000000300056d65746100000001a20017f428"

GROUP_KEY = "00020006737461746963"
MEMBER_ID = "one-bdd1b2b3-d8dc-4ca1-bad1-14b4464412ac"
STABLE_GROUP = (
    "00030008636f6e73756d657200000001000572616e676500286f6e652d62646431623262332d643864632d34636131"
    "2d626164312d313462343436343431326163000001a20017f2c00000000100286f6e652d62646431623262332d6438"
    "64632d346361312d626164312d31346234343634343132616300036f6e650003636964000a2f3132372e302e302e31"
    "0000ea60000075300000001c00030000000100066f72646572730000000000000000ffffffff00000000001e000000"
    "00000100066f726465727300000002000000000000000100000000"
)

OFFSETS = [
    (
        WITH_RETENTION,
        CommittedOffset(
            offset=42,
            metadata="m",
            commit_timestamp_ms=0x1A20017F46E,
            expire_timestamp_ms=0x1A20017F46E + 60_000,
        ),
    ),
    (
        WITHOUT_RETENTION,
        CommittedOffset(offset=5, leader_epoch=0, commit_timestamp_ms=0x1A20017F513),
    ),
    # librdkafka ended its metadata with a NUL.
    (
        WITH_EPOCH,
        CommittedOffset(
            offset=7, leader_epoch=3, metadata="meta\0", commit_timestamp_ms=0x1A20017F428
        ),
    ),
]


@pytest.mark.parametrize(("data", "committed"), OFFSETS)
def test_offsets_are_kafkas_byte_for_byte(data: str, committed: CommittedOffset) -> None:
    record = bytes.fromhex(OFFSET_KEY), bytes.fromhex(data)
    assert offset_record("simple", SIMPLE_P1.name, committed) == record
    assert read_key(record[0]) == SIMPLE_P1
    assert read_offset(record[1]) == committed


def test_a_group_is_kafkas_byte_for_byte() -> None:
    group = read_group("static", 38, bytes.fromhex(STABLE_GROUP))
    assert (group.group_id, group.partition, group.state) == ("static", 38, GroupState.STABLE)
    assert (group.generation_id, group.leader_id) == (1, MEMBER_ID)
    assert (group.protocol_type, group.protocol_name) == ("consumer", "range")
    assert group.subscribed_topics == frozenset({"orders"})
    assert group.static_members == {"one": MEMBER_ID}
    assert group.state_timestamp_ms == 0x1A20017F2C0
    (member,) = group.members.values()
    assert (member.client_id, member.client_host) == ("cid", "/127.0.0.1")
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (60_000, 30_000)
    again = group_record(group, {MEMBER_ID: member.assignment})
    assert again == (bytes.fromhex(GROUP_KEY), bytes.fromhex(STABLE_GROUP))


def test_an_empty_group_comes_back_empty() -> None:
    group = Group("g", 3)
    group.generation_id = 4
    group.protocol_type = "consumer"
    key, value = group_record(group, {})
    assert read_key(key) == GroupKey("g")
    assert value is not None
    again = read_group("g", 3, value)
    assert (again.state, again.generation_id) == (GroupState.EMPTY, 4)
    assert (again.protocol_type, again.protocol_name, again.leader_id) == ("consumer", None, None)
    assert again.state_timestamp_ms is None
    assert again.subscribed_topics == frozenset()


def test_a_group_that_only_stores_offsets_has_no_protocol_type() -> None:
    _, value = group_record(Group("g", 0), {})
    assert value is not None
    assert read_group("g", 0, value).protocol_type is None


def test_tombstones_have_the_same_keys() -> None:
    assert offset_tombstone("simple", SIMPLE_P1.name) == (bytes.fromhex(OFFSET_KEY), None)
    assert group_tombstone("static") == (bytes.fromhex(GROUP_KEY), None)


MEMBER = "00016d 000163 00022f68"
NO_BYTES = "00000000 00000000"
HEAD = "0008636f6e73756d6572 00000007 000572616e6765 00016d"
OLDER_GROUPS = {
    "no rebalance timeout": f"0000 {HEAD} 00000001 {MEMBER} 00007530 {NO_BYTES}",
    "no time of the state": f"0001 {HEAD} 00000001 {MEMBER} 00007530 00007530 {NO_BYTES}",
    "no instance ids": f"0002 {HEAD} {9:016x} 00000001 {MEMBER} 00007530 00007530 {NO_BYTES}",
}


@pytest.mark.parametrize("data", OLDER_GROUPS.values(), ids=OLDER_GROUPS)
def test_older_groups_are_read(data: str) -> None:
    group = read_group("g", 0, bytes.fromhex(data))
    assert (group.state, group.generation_id, group.leader_id) == (GroupState.STABLE, 7, "m")
    member = group.members["m"]
    assert (member.client_id, member.client_host) == ("c", "/h")
    assert (member.rebalance_timeout_ms, member.session_timeout_ms) == (30_000, 30_000)


@pytest.mark.parametrize("version", [0, 2])
def test_older_offsets_are_read(version: int) -> None:
    committed = read_offset(bytes.fromhex(f"{version:04x} {11:016x} 00016d {9:016x}"))
    assert committed == CommittedOffset(offset=11, metadata="m", commit_timestamp_ms=9)


@pytest.mark.parametrize(
    "key", [b"", b"\0", b"\0\3", b"\0\1\0\5ab", b"\xff\xff\0\0", bytes.fromhex(GROUP_KEY) + b"x"]
)
def test_keys_that_nobody_could_have_written(key: bytes) -> None:
    with pytest.raises(UnreadableRecord):
        read_key(key)


@pytest.mark.parametrize("value", [b"", b"\0\4" + bytes(40), bytes.fromhex(WITH_EPOCH)[:-1]])
def test_values_that_nobody_could_have_written(value: bytes) -> None:
    with pytest.raises(UnreadableRecord):
        read_offset(value)
    with pytest.raises(UnreadableRecord):
        read_group("g", 0, value)


def test_members_without_a_protocol_are_unreadable() -> None:
    whole = bytes.fromhex(STABLE_GROUP)
    without = whole.replace(b"\0\5range", b"\xff\xff", 1)
    with pytest.raises(UnreadableRecord, match="no protocol"):
        read_group("static", 0, without)
