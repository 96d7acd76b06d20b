import struct
import tracemalloc
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.protocol.api_keys import APIS
from ballast.protocol.codec import decode, encode, encode_parts
from ballast.protocol.errors import DecodeError, EncodeError, UnsupportedVersion
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.admin.delete_topics import DeleteTopicsRequest
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest
from ballast.protocol.messages.cluster.metadata import MetadataRequest, MetadataRequestTopic
from ballast.protocol.messages.control.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
)
from ballast.protocol.messages.control.stop_replica import StopReplicaRequest
from ballast.protocol.messages.control.update_metadata import UpdateMetadataRequest
from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from ballast.protocol.messages.records.list_offsets import ListOffsetsRequest
from ballast.protocol.messages.records.produce import ProduceRequest
from ballast.protocol.primitives import MAX_TAGS, encode_unsigned_varint
from ballast.protocol.schema import Message
from tests.unit.protocol.instances import CLASSES, make, versions_of

FORMS = [(cls, version) for cls in CLASSES for version in versions_of(cls)]
FETCH_HEAD = struct.pack(">iiiibii", -1, 500, 1, 2**20, 0, 0, -1)
MOST_MEMORY = 64 * 1024


def form_id(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else f"v{value}"


@given(form=st.sampled_from(FORMS), random=st.randoms(use_true_random=False))
def test_messages_come_back(form: tuple[type[Message], int], random: Random) -> None:
    message_class, version = form
    message = make(message_class, version, random)
    encoded = encode(message, version)
    assert decode(message_class, version, encoded) == message
    assert b"".join(encode_parts(message, version)) == encoded


@pytest.mark.parametrize(("message_class", "version"), FORMS, ids=form_id)
def test_every_prefix_and_every_suffix_is_refused(
    message_class: type[Message], version: int
) -> None:
    encoded = encode(make(message_class, version, Random(5)), version)
    step = max(1, len(encoded) // 40)
    for end in range(0, len(encoded), step):
        with pytest.raises(DecodeError):
            decode(message_class, version, encoded[:end])
    with pytest.raises(DecodeError):
        decode(message_class, version, encoded + b"\0")


@given(
    form=st.sampled_from(FORMS),
    random=st.randoms(use_true_random=False),
    flips=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_damaged_messages_decode_or_are_refused(
    form: tuple[type[Message], int], random: Random, flips: list[tuple[int, int]]
) -> None:
    message_class, version = form
    damaged = bytearray(encode(make(message_class, version, random), version))
    for position, byte in flips:
        if damaged:
            damaged[position % len(damaged)] = byte
    try:
        message = decode(message_class, version, bytes(damaged))
    except DecodeError:
        return
    assert decode(message_class, version, encode(message, version)) == message


@given(form=st.sampled_from(FORMS), noise=st.binary(max_size=200))
def test_noise_decodes_or_is_refused(form: tuple[type[Message], int], noise: bytes) -> None:
    message_class, version = form
    try:
        decode(message_class, version, noise)
    except DecodeError:
        return


def nested(depth_bytes: bytes, count: int) -> bytes:
    """Return a Fetch v12 request whose topics claim ``count`` partitions each."""
    topic = b"\x02t" + encode_unsigned_varint(count + 1)
    return FETCH_HEAD + b"\x03" + topic + depth_bytes


HOSTILE: dict[str, tuple[type[Message], int, bytes]] = {
    "2^31-1 topics in 30 bytes": (FetchRequest, 12, FETCH_HEAD + b"\x80\x80\x80\x80\x08"),
    "2^32-1 topics": (FetchRequest, 12, FETCH_HEAD + b"\xff\xff\xff\xff\x0f"),
    "2^31-1 topics, old": (FetchRequest, 11, FETCH_HEAD + b"\x7f\xff\xff\xff"),
    "-2 topics": (FetchRequest, 11, FETCH_HEAD + b"\xff\xff\xff\xfe"),
    "-2^31 topics": (FetchRequest, 11, FETCH_HEAD + b"\x80\0\0\0"),
    "null topics": (FetchRequest, 12, FETCH_HEAD + b"\0\x01\x01\0"),
    "null topics, old": (FetchRequest, 11, FETCH_HEAD + b"\xff\xff\xff\xff"),
    "nested counts": (FetchRequest, 12, nested(bytes(60), 2**28)),
    "ten-byte varint": (FetchRequest, 12, FETCH_HEAD + b"\xff" * 10),
    "negative string": (ListOffsetsRequest, 1, struct.pack(">iih", -1, 1, -3) + bytes(8)),
    "null string": (ListOffsetsRequest, 1, struct.pack(">iih", -1, 1, -1) + bytes(8)),
    "null compact string": (ApiVersionsRequest, 3, b"\0\x01\0"),
    "string beyond the end": (ApiVersionsRequest, 3, b"\x70abc\x01\0"),
    "string over 32 KiB": (
        ApiVersionsRequest,
        3,
        encode_unsigned_varint(40_001) + b"x" * 40_000 + b"\x01\0",
    ),
    "no UTF-8": (ApiVersionsRequest, 3, b"\x03\xc3\x28\x01\0"),
    "surrogate": (ApiVersionsRequest, 3, b"\x04\xed\xa0\x80\x01\0"),
    "more tags than bytes": (ApiVersionsRequest, 3, b"\x01\x01\xc0\x84\x3d\x00\x00"),
    "10^6 tags": (
        ApiVersionsRequest,
        3,
        b"\x01\x01" + encode_unsigned_varint(10**6) + b"\x7f\x00" * 10**6,
    ),
    "10^6 tags beside a known one": (
        FetchRequest,
        12,
        FETCH_HEAD + b"\x01\x01\x01" + encode_unsigned_varint(10**6) + b"\x7f\x00" * 10**6,
    ),
    "tag beyond the end": (ApiVersionsRequest, 3, b"\x01\x01\x01\x07\x7f"),
    "known tag with room to spare": (
        FetchRequest,
        12,
        FETCH_HEAD + b"\x01\x01\x01" + b"\x01\x00\x04\x02aX",
    ),
    "known tag cut short": (FetchRequest, 12, FETCH_HEAD + b"\x01\x01\x01" + b"\x01\x00\x01\x09a"),
    "records beyond the end": (
        ProduceRequest,
        3,
        struct.pack(">hhiih1siii", -1, 1, 1, 1, 1, b"t", 1, 0, 2**31 - 1),
    ),
    "records of length -2": (
        ProduceRequest,
        3,
        struct.pack(">hhiih1siii", -1, 1, 1, 1, 1, b"t", 1, 0, -2),
    ),
    "2^31-1 replicas": (
        AlterPartitionReassignmentsRequest,
        0,
        b"\0\0\0\x01\x02\x02t\x02\0\0\0\0\x80\x80\x80\x80\x08",
    ),
    "2^31-1 old names": (DeleteTopicsRequest, 0, b"\x7f\xff\xff\xff" + bytes(16)),
    "HTTP": (MetadataRequest, 9, b"GET / HTTP/1.1\r\n\r\n"),
    "nothing": (UpdateMetadataRequest, 7, b""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused_at_no_cost(name: str) -> None:
    message_class, version, hostile = HOSTILE[name]
    with pytest.raises(DecodeError):
        decode(message_class, version, hostile)
    tracemalloc.start()
    with pytest.raises(DecodeError):
        decode(message_class, version, hostile)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST_MEMORY + 4 * len(hostile)


def test_as_many_unknown_tags_as_allowed_are_skipped() -> None:
    tags = encode_unsigned_varint(MAX_TAGS) + b"\x7f\x00" * MAX_TAGS
    assert decode(ApiVersionsRequest, 3, b"\x01\x01" + tags) == ApiVersionsRequest()


def test_memory_is_proportional_to_what_came() -> None:
    """The cheapest element to send: a topic without a name in three bytes."""
    count = 20_000
    body = b"".join(
        (FETCH_HEAD, encode_unsigned_varint(count + 1), b"\x01\x01\0" * count, b"\x01\x01\0")
    )
    tracemalloc.start()
    request = decode(FetchRequest, 12, body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(request.topics) == count
    assert peak < 40 * len(body)


def test_unknown_tags_beside_known_ones_are_skipped() -> None:
    tags = b"\x03\x00\x02\x02c\x01\x01x\x7f\x00"
    request = decode(FetchRequest, 12, FETCH_HEAD + b"\x01\x01\x01" + tags)
    # A compact string of one byte: its length and itself.
    assert request.cluster_id == "c"


def test_any_byte_but_zero_is_true() -> None:
    encoded = bytearray(encode(CreateTopicsRequest(validate_only=True), 1))
    encoded[-1] = 7
    assert decode(CreateTopicsRequest, 1, bytes(encoded)).validate_only is True


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_buffer_is_read(kind: Any) -> None:
    encoded = encode(MetadataRequest(), 11)
    assert decode(MetadataRequest, 11, kind(encoded)) == MetadataRequest()


@pytest.mark.parametrize("version", [-1, 12, 99])
def test_versions_beyond_the_table_are_refused(version: int) -> None:
    with pytest.raises(UnsupportedVersion):
        decode(MetadataRequest, version, b"")
    with pytest.raises(UnsupportedVersion):
        encode(MetadataRequest(), version)


def test_ignorable_values_are_dropped() -> None:
    request = FetchRequest(session_id=7, rack_id="r", max_bytes=5, isolation_level=1)
    assert decode(FetchRequest, 0, encode(request, 0)) == FetchRequest()


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (MetadataRequest(allow_auto_topic_creation=False), 3),
        (CreateTopicsRequest(validate_only=True), 0),
        (
            FetchRequest(
                topics=(FetchTopic(partitions=(FetchPartition(last_fetched_epoch=3),)),),
            ),
            11,
        ),
        (LeaderAndIsrRequest(ungrouped_partition_states=(LeaderAndIsrPartitionState(),)), 2),
        (StopReplicaRequest(delete_partitions=True), 3),
    ],
)
def test_values_that_matter_are_not_lost_silently(message: Message, version: int) -> None:
    with pytest.raises(EncodeError, match=f"version {version} has no such field"):
        encode(message, version)


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (FetchRequest(max_wait_ms=2**31), 12),
        (ListOffsetsRequest(isolation_level=128), 6),
        (MetadataRequest(topics=None), 0),
        (MetadataRequest(topics=(MetadataRequestTopic(name=None),)), 9),
        (CreateTopicsRequest(topics=(CreatableTopic(name="x" * 40_000),)), 7),
        (CreateTopicsRequest(topics=(CreatableTopic(name="\ud800"),)), 7),
    ],
    ids=["int32", "int8", "null array", "null string", "long string", "no Unicode"],
)
def test_values_that_do_not_fit_are_refused(message: Message, version: int) -> None:
    with pytest.raises(EncodeError):
        encode(message, version)


def test_all_apis_are_covered() -> None:
    assert len(FORMS) == 2 * sum(api.max_version + 1 for api in APIS.values())
