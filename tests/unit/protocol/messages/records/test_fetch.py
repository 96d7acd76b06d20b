"""Fetch, byte for byte as kio and captured clients and brokers write it."""

from ballast.protocol.api_keys import ApiKey
from ballast.protocol.codec import decode, encode
from ballast.protocol.messages.records.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from tests.unit.protocol.agreement import check_api


def test_every_version_has_kafkas_bytes() -> None:
    check_api(ApiKey.FETCH)


def test_known_tags_are_written_only_where_they_say_something() -> None:
    plain = PartitionData(partition_index=1)
    diverging = PartitionData(diverging_epoch=EpochEndOffset(epoch=5, end_offset=70))
    sizes = [
        len(encode(FetchResponse(responses=(FetchableTopicResponse(partitions=(data,)),)), 12))
        for data in (plain, diverging)
    ]
    # The tag, its size, and a struct of 4 + 8 bytes with no tags of its own.
    assert sizes[1] - sizes[0] == 1 + 1 + 4 + 8 + 1


def test_what_an_old_version_lacks_is_its_default_when_read() -> None:
    old = decode(FetchResponse, 0, encode(FetchResponse(throttle_time_ms=9), 0))
    assert old == FetchResponse()
