"""Groups and offsets as records of ``__consumer_offsets``, and back."""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, TypeVar

from ballast.coordinator.errors import UnreadableRecord
from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.ports import Record
from ballast.coordinator.requests import CommittedOffset
from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition
from ballast.protocol.codec import decode, encode
from ballast.protocol.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ballast.protocol.errors import DecodeError, UnsupportedVersion
from ballast.protocol.schema import Message

OFFSET_KEY_VERSION = 1
GROUP_KEY_VERSION = 2
OFFSET_VERSION = 3
OFFSET_WITH_EXPIRY_VERSION = 1
GROUP_VERSION = 3

NO_TIMESTAMP = -1
"""A time that is unknown or not set."""

_VERSION_SIZE = 2

MessageT = TypeVar("MessageT", bound=Message)


class OffsetKey(NamedTuple):
    """The key of a committed offset."""

    group_id: str
    name: TopicPartition


class GroupKey(NamedTuple):
    """The key of a group."""

    group_id: str


Key: TypeAlias = OffsetKey | GroupKey


def offset_record(group_id: str, name: TopicPartition, committed: CommittedOffset) -> Record:
    expires = committed.expire_timestamp_ms
    value = OffsetCommitValue(
        offset=committed.offset,
        # Version 1 has no leader epoch; Kafka uses it for a client's own retention time.
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=NO_TIMESTAMP if expires is None else expires,
    )
    version = OFFSET_VERSION if expires is None else OFFSET_WITH_EXPIRY_VERSION
    return _offset_key(group_id, name), _encode(value, version)


def offset_tombstone(group_id: str, name: TopicPartition) -> Record:
    """Return the tombstone of a committed offset."""
    return _offset_key(group_id, name), None


def group_record(group: Group, assignments: Mapping[str, bytes]) -> Record:
    """Return the record of a generation whose members get ``assignments``."""
    name = group.protocol_name
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=name,
        leader=group.leader_id,
        current_state_timestamp=(
            NO_TIMESTAMP if group.state_timestamp_ms is None else group.state_timestamp_ms
        ),
        members=tuple(
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(name) if name is not None else b"",
                assignment=assignments[member.member_id],
            )
            for member in group.members.values()
        ),
    )
    return _group_key(group.group_id), _encode(value, GROUP_VERSION)


def group_tombstone(group_id: str) -> Record:
    return _group_key(group_id), None


def read_key(data: bytes | None) -> Key:
    """Decode the key of a record; raises `UnreadableRecord`."""
    version = _version(data)
    if OffsetCommitKey.VERSIONS.has(version):
        of_offset = _decode(OffsetCommitKey, data)
        return OffsetKey(of_offset.group, TopicPartition(of_offset.topic, of_offset.partition))
    return GroupKey(_decode(GroupMetadataKey, data).group)


def read_offset(data: bytes) -> CommittedOffset:
    """Return a committed offset; raises `UnreadableRecord`."""
    value = _decode(OffsetCommitValue, data)
    expires = value.expire_timestamp
    return CommittedOffset(
        offset=value.offset,
        leader_epoch=value.leader_epoch,
        metadata=value.metadata,
        commit_timestamp_ms=value.commit_timestamp,
        expire_timestamp_ms=None if expires == NO_TIMESTAMP else expires,
    )


def read_group(group_id: str, partition: int, data: bytes) -> Group:
    """Return a group as it was stored: stable, or empty; raises `UnreadableRecord`."""
    value = _decode(GroupMetadataValue, data)
    group = Group(group_id, partition)
    group.generation_id = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol_name = value.protocol
    if value.members and value.protocol is None:
        raise UnreadableRecord(f"group {group_id} has members and no protocol")
    for stored in value.members:
        group.add(_member(value, stored))
    group.leader_id = value.leader if value.leader in group.members else group.leader_id
    group.state = GroupState.STABLE if value.members else GroupState.EMPTY
    timestamp_ms = value.current_state_timestamp
    group.state_timestamp_ms = None if timestamp_ms == NO_TIMESTAMP else timestamp_ms
    group.subscribed_topics = group.find_subscribed_topics()
    return group


def _member(value: GroupMetadataValue, stored: MemberMetadata) -> Member:
    return Member(
        stored.member_id,
        group_instance_id=stored.group_instance_id,
        client_id=stored.client_id,
        client_host=stored.client_host,
        # Version 0 has no rebalance timeout; Kafka uses the session timeout then.
        rebalance_timeout_ms=stored.rebalance_timeout or stored.session_timeout,
        session_timeout_ms=stored.session_timeout,
        protocol_type=value.protocol_type,
        protocols=((value.protocol or "", stored.subscription),),
        assignment=stored.assignment,
    )


def _offset_key(group_id: str, name: TopicPartition) -> bytes:
    key = OffsetCommitKey(group=group_id, topic=name.topic, partition=name.partition)
    return _encode(key, OFFSET_KEY_VERSION)


def _group_key(group_id: str) -> bytes:
    return _encode(GroupMetadataKey(group=group_id), GROUP_KEY_VERSION)


def _encode(message: Message, version: int) -> bytes:
    return version.to_bytes(_VERSION_SIZE, "big") + encode(message, version)


def _version(data: bytes | None) -> int:
    if data is None or len(data) < _VERSION_SIZE:
        raise UnreadableRecord("too short for a version")
    return int.from_bytes(data[:_VERSION_SIZE], "big", signed=True)


def _decode(message_class: type[MessageT], data: bytes | None) -> MessageT:
    version = _version(data)
    assert data is not None, "it has a version"
    try:
        return decode(message_class, version, data[_VERSION_SIZE:])
    except (DecodeError, UnsupportedVersion) as error:
        raise UnreadableRecord(f"{message_class.__name__} v{version}: {error}") from error
