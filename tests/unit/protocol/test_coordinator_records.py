"""Which version of a record has which field; tests/unit/coordinator has Kafka's own bytes."""

import pytest

from ballast.protocol.codec import decode, encode
from ballast.protocol.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ballast.protocol.errors import EncodeError
from ballast.protocol.schema import Message

OFFSET = OffsetCommitValue(offset=1, metadata="m", commit_timestamp=2)
GROUP = GroupMetadataValue(
    protocol_type="consumer",
    generation=3,
    protocol="range",
    leader="a",
    members=(MemberMetadata(member_id="a", session_timeout=5, assignment=b"x"),),
)


@pytest.mark.parametrize(
    ("message", "sizes"),
    [
        (OffsetCommitKey(group="g", topic="t", partition=1), {0: 10, 1: 10}),
        (OFFSET, {0: 19, 1: 27, 2: 19, 3: 23}),
        (GroupMetadataKey(group="g"), {2: 3}),
        (GROUP, {0: 48, 1: 52, 2: 60, 3: 62}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_version_comes_back(message: Message, sizes: dict[int, int]) -> None:
    versions = type(message).VERSIONS
    assert list(sizes) == list(range(versions.first, versions.last + 1))
    for version, size in sizes.items():
        data = encode(message, version)
        assert len(data) == size
        assert decode(type(message), version, data) == message


def test_a_time_of_expiry_needs_the_version_that_has_one() -> None:
    for version in (0, 2, 3):
        with pytest.raises(EncodeError):
            encode(OffsetCommitValue(expire_timestamp=1), version)
