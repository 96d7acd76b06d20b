"""Codecs: what other libraries make is opened, and what is made here they open."""

import gzip
from collections.abc import Callable

import cramjam
import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ballast.protocol.compression import compress, decompress
from ballast.protocol.errors import CorruptRecords, InvalidRecords

TEXT = b"".join(b"record %d " % n for n in range(20_000))
NOISE = bytes(cramjam.zstd.compress(TEXT))
OTHERS: dict[int, Callable[[bytes], bytes]] = {
    1: gzip.compress,
    2: snappy.compress,
    3: lz4.frame.compress,
    4: zstandard.compress,
}
OPENERS: dict[int, Callable[[bytes], bytes]] = {
    1: gzip.decompress,
    3: lz4.frame.decompress,
    4: zstandard.decompress,
}


@pytest.mark.parametrize("compression", range(5))
@given(data=st.binary(max_size=300) | st.sampled_from([TEXT, NOISE]))
def test_what_is_made_is_opened(compression: int, data: bytes) -> None:
    assert decompress(compression, compress(compression, data)) == data


@pytest.mark.parametrize("compression", OTHERS)
@pytest.mark.parametrize("data", [b"", b"x", TEXT, NOISE], ids=["none", "one", "text", "noise"])
def test_what_others_make_is_opened(compression: int, data: bytes) -> None:
    assert decompress(compression, memoryview(OTHERS[compression](data))) == data


@pytest.mark.parametrize("compression", OPENERS)
@pytest.mark.parametrize("data", [b"x", TEXT, NOISE], ids=["one", "text", "noise"])
def test_what_is_made_is_opened_by_others(compression: int, data: bytes) -> None:
    assert OPENERS[compression](compress(compression, data)) == data


def test_lz4_has_what_java_insists_on() -> None:
    """Version 1, independent blocks, blocks of at most 64 KiB, and the header's checksum."""
    assert compress(3, TEXT)[:7].hex() == "04224d18604082"
    assert lz4.frame.get_frame_info(compress(3, TEXT))["block_linked"] is False


def test_snappy_is_framed_as_xerials() -> None:
    assert compress(2, TEXT)[:16] == b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1"
    assert len(TEXT) > 2 * 32 * 1024


@pytest.mark.parametrize("compression", OTHERS)
def test_garbage_is_refused(compression: int) -> None:
    good = compress(compression, TEXT)
    for bad in (b"\xff" * 40, good[:-20], good[:9]):
        with pytest.raises(CorruptRecords):
            decompress(compression, bad)


@pytest.mark.parametrize("compression", OTHERS)
def test_bombs_are_refused(compression: int) -> None:
    bomb = OTHERS[compression](bytes(1_000_001))
    assert len(decompress(compression, bomb, 1_000_001)) == 1_000_001
    with pytest.raises(CorruptRecords, match="opens to over"):
        decompress(compression, bomb, 1_000_000)


def test_a_batch_larger_than_first_guessed_is_opened() -> None:
    data = bytes(5_000_000)
    assert decompress(4, zstandard.compress(data)) == data


@pytest.mark.parametrize("compression", [5, 7])
def test_unknown_codecs_are_refused(compression: int) -> None:
    with pytest.raises(InvalidRecords):
        decompress(compression, b"")
    with pytest.raises(InvalidRecords):
        compress(compression, b"")
