import pytest

from ballast.coordinator.subscriptions import subscribed_topics


def subscription(*topics: str, version: int = 1, after: bytes = b"\xff\xff\xff\xff") -> bytes:
    names = b"".join(len(t.encode()).to_bytes(2, "big") + t.encode() for t in topics)
    return version.to_bytes(2, "big") + len(topics).to_bytes(4, "big") + names + after


def test_topics_of_all_members_whatever_follows_them() -> None:
    newer = subscription("b", "c", version=3, after=b"user data, owned partitions, rack")
    assert subscribed_topics([subscription("a", "b"), newer]) == frozenset({"a", "b", "c"})
    assert subscribed_topics([]) == frozenset()


@pytest.mark.parametrize(
    "malformed",
    [
        b"",
        b"\0\1\0\0",
        b"\0\1\0\0\0\1\0\5abc",
        b"\0\1\x7f\xff\xff\xff\0\1a",
        b"\0\1\xff\xff\xff\xff",
        b"\xff\xff\0\0\0\0",
        b"\0\1\0\0\0\1\xff\xff",
        b"\0\1\0\0\0\1\0\2\xc3\x28",
    ],
)
def test_one_that_cannot_be_read_leaves_all_unknown(malformed: bytes) -> None:
    assert subscribed_topics([subscription("a"), malformed]) is None
