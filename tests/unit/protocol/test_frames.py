import pytest

from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.errors import (
    DecodeError,
    UnknownApiKey,
    UnsupportedVersion,
)
from ballast.protocol.frames import (
    RequestHeader,
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_request_parts,
    encode_response,
    encode_response_parts,
)
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ballast.protocol.messages.cluster.metadata import MetadataRequest
from ballast.protocol.messages.control.controlled_shutdown import ControlledShutdownRequest
from ballast.protocol.messages.records.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.unit.protocol.agreement import check_captured
from tests.unit.protocol.captured import captured
from tests.unit.protocol.instances import versions_of


def key_and_version(key: int, version: int, rest: bytes = b"\xff\xff\0\0\0\0\0") -> bytes:
    return (
        key.to_bytes(2, "big", signed=True)
        + version.to_bytes(2, "big", signed=True)
        + (b"\0\0\0\x2a" + rest)
    )


def test_the_corpus_of_real_frames_is_there() -> None:
    frames = captured()
    assert {frame.source for frame in frames} == {
        "aiokafka",
        "groups-2.8.2",
        "kafka-2.8.2",
        "kafka-python",
        "librdkafka",
    }
    not_recorded = {
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.CREATE_ACLS,
        ApiKey.DELETE_ACLS,
    }
    assert {frame.api_key for frame in frames} >= set(ApiKey) - not_recorded
    for frame in frames:
        check_captured(frame)


@pytest.mark.parametrize("key", ApiKey, ids=lambda key: key.name)
def test_requests_and_responses_come_back_in_every_version(key: ApiKey) -> None:
    request, response = APIS[key].request(), APIS[key].response()
    for version in versions_of(APIS[key].request):
        frame = encode_request(42, "client", request, version)
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        header, message = decode_request(frame[4:])
        named = None if (key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 0) else "client"
        assert header == RequestHeader(key, version, 42, named)
        assert message == request
        answer = encode_response(42, response, version)
        assert int.from_bytes(answer[:4], "big") == len(answer) - 4
        assert decode_response(APIS[key].response, version, answer[4:]) == (42, response)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (encode_request(7, "c", MetadataRequest(), 8), "00000012 0003 0008 00000007 000163"),
        (encode_request(7, "c", MetadataRequest(), 9), "00000011 0003 0009 00000007 000163 00"),
        (encode_request(7, None, MetadataRequest(), 9), "00000010 0003 0009 00000007 ffff 00"),
        (encode_request(7, "c", ControlledShutdownRequest(), 0), "0000000c 0007 0000 00000007"),
        (encode_response(7, FetchResponse(), 12), "00000011 00000007 00"),
        (encode_response(7, FetchResponse(), 11), "00000012 00000007"),
        (encode_response(7, ApiVersionsResponse(), 3), "0000000c 00000007 0000"),
    ],
    ids=["header 1", "header 2", "no client", "header 0", "tags", "no tags", "ApiVersions"],
)
def test_headers_have_the_version_of_key_and_version(frame: bytes, expected: str) -> None:
    assert frame.hex().startswith(expected.replace(" ", ""))


def test_header_tags_are_skipped() -> None:
    body = encode_request(1, "c", MetadataRequest(), 9)[4 + 8 + 3 + 1 :]
    frame = key_and_version(3, 9, b"\0\x01c" + b"\x02\x05\x01x\x09\x00" + body)
    header, message = decode_request(frame)
    assert header.client_id == "c"
    assert message == MetadataRequest()


@pytest.mark.parametrize("key", [-1, 24, 28, 61, 32767])
def test_unknown_keys_are_refused(key: int) -> None:
    with pytest.raises(UnknownApiKey):
        decode_request_header(key_and_version(key, 0))


@pytest.mark.parametrize(("key", "version"), [(0, 10), (1, 13), (3, -1), (7, 32767), (45, 1)])
def test_unknown_versions_are_refused(key: int, version: int) -> None:
    with pytest.raises(UnsupportedVersion):
        decode_request_header(key_and_version(key, version))


def test_api_versions_passes_in_any_version() -> None:
    frame = key_and_version(18, 9, b"whatever")
    assert decode_request_header(frame) == (RequestHeader(18, 9, 42, None), len(frame))


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\0\x03\0\x09\0\0\0",
        key_and_version(3, 9, b""),
        key_and_version(3, 9, b"\0"),
        key_and_version(3, 9, b"\0\x05abc"),
        key_and_version(3, 9, b"\xff\xfe"),
        key_and_version(3, 9, b"\0\x02\xff\xfe\0"),
        key_and_version(3, 9, b"\xff\xff"),
        key_and_version(3, 9, b"\xff\xff\x01"),
        key_and_version(3, 9, b"\xff\xff" + b"\xff" * 10),
        key_and_version(3, 9, b"\xff\xff\x01\x00\x7f"),
    ],
    ids=[
        "empty",
        "short",
        "no client",
        "half a length",
        "client cut",
        "length -2",
        "no UTF-8",
        "no tags",
        "tags cut",
        "long varint",
        "tag cut",
    ],
)
def test_malformed_headers_are_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_request_header(frame)


@pytest.mark.parametrize("frame", [b"", b"\0\0\0", b"\0\0\0\x01", b"\0\0\0\x01\x01"])
def test_malformed_responses_are_refused(frame: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_response(FetchResponse, 12, frame)


def test_records_are_passed_by_reference() -> None:
    first, second = memoryview(bytes(5000)), bytes(100)
    response = FetchResponse(
        responses=(
            FetchableTopicResponse(
                topic="t",
                partitions=(PartitionData(records=first), PartitionData(records=second)),
            ),
        )
    )
    parts = encode_response_parts(1, response, 12)
    assert [len(part) for part in parts if part is first or part is second] == [5000, 100]
    assert b"".join(parts) == encode_response(1, response, 12)
    produce = ProduceRequest(
        topic_data=(TopicProduceData(partition_data=(PartitionProduceData(records=first),)),)
    )
    assert any(part is first for part in encode_request_parts(1, None, produce, 9))


def test_a_request_without_a_body_has_one() -> None:
    assert decode_request(encode_request(1, None, ApiVersionsRequest(), 0)[4:])[1] == (
        ApiVersionsRequest()
    )
