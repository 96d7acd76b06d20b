from hashlib import blake2b

from ballast.storage.cleaning.latest_offsets import LatestOffsets


def test_the_newest_offset_of_each_key_counts() -> None:
    keys = LatestOffsets(3)
    for offset, key in enumerate([b"a", b"b" * 100, b"a"]):
        keys.put(key, offset)
    assert keys.is_superseded(b"a", 0)
    assert not keys.is_superseded(b"a", 2)
    assert not keys.is_superseded(b"b" * 100, 1)
    assert keys.is_superseded(b"b" * 100, 0)
    assert not keys.is_superseded(b"unknown", 0)
    assert keys.latest_offset == 2


def test_it_is_bounded() -> None:
    keys = LatestOffsets(2)
    assert [keys.put(key, offset) for offset, key in enumerate([b"a", b"b", b"a", b"c", b"b"])] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert not keys.is_superseded(b"c", 3)


def test_what_is_known_to_hold_no_other_key() -> None:
    keys = LatestOffsets(2)
    keys.put(b"a", 3)
    keys.reach(9)
    keys.reach(5)
    assert keys.latest_offset == 9


def test_a_hash_is_never_taken_for_a_key() -> None:
    long = b"k" * 50
    keys = LatestOffsets(2)
    keys.put(long, 5)
    assert not keys.is_superseded(blake2b(long, digest_size=16).digest(), 0)
