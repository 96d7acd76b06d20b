"""Sparse indexes: exact bytes, lookups in memory and in the file."""

import pytest

from ballast.storage.errors import CorruptLog
from ballast.storage.log.index import OffsetEntry, OffsetIndex, TimeEntry, TimeIndex
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import DIRECTORY, new_disk

PATH = f"{DIRECTORY}/index"
BASE = 1000


def offset_index(disk: FakeDisk) -> OffsetIndex:
    index = OffsetIndex(disk, PATH, BASE)
    index.file.load(verify=True)
    for last_offset, position in ((1009, 100), (1019, 250), (1040, 400)):
        index.append(last_offset, position)
    return index


def time_index(disk: FakeDisk) -> TimeIndex:
    index = TimeIndex(disk, PATH, BASE)
    index.file.load(verify=True)
    for timestamp, last_offset in ((50, 1009), (50, 1011), (70, 1019), (60, 1020), (90, 1040)):
        index.append_if_later(timestamp, last_offset)
    return index


@pytest.mark.parametrize("sealed", [False, True])
def test_offset_lookups(sealed: bool) -> None:
    disk = new_disk()
    index = offset_index(disk)
    if sealed:
        index.file.seal()
    before = [(1000, 0), (1008, 0), (1009, 100), (1018, 100), (1019, 250), (1041, 400)]
    assert [(offset, index.position_before(offset)) for offset, _ in before] == before
    below = [(0, 0), (99, 0), (100, 100), (399, 250), (400, 400), (9999, 400)]
    assert [(at, index.position_at_or_below(at)) for at, _ in below] == below
    assert index.last() == OffsetEntry(1040, 400)
    assert index.entry(0) == OffsetEntry(1009, 100)


@pytest.mark.parametrize("sealed", [False, True])
def test_time_lookups(sealed: bool) -> None:
    disk = new_disk()
    index = time_index(disk)
    if sealed:
        index.file.seal()
    assert index.file.count == 3, "timestamps that are no news make no entry"
    before = [(0, 1000), (50, 1000), (51, 1009), (70, 1009), (71, 1019), (99, 1040)]
    assert [(time, index.offset_before(time)) for time, _ in before] == before
    assert index.last() == TimeEntry(90, 1040)


def test_exact_bytes() -> None:
    disk = new_disk()
    offset_index(disk).file.write()
    assert disk.content(PATH) == bytes.fromhex(
        "00000009 00000064  00000013 000000fa  00000028 00000190"
    )
    disk.remove(PATH)
    time_index(disk).file.write()
    assert disk.content(PATH) == bytes.fromhex(
        "0000000000000032 00000009  0000000000000046 00000013  000000000000005a 00000028"
    )


def test_cutting_and_writing_again() -> None:
    disk = new_disk()
    index = offset_index(disk)
    index.file.write()
    index.keep_below(1019, 10_000)
    assert index.last() == OffsetEntry(1009, 100)
    index.append(1050, 300)
    index.file.write()
    assert disk.content(PATH) == bytes.fromhex("00000009 00000064  00000032 0000012c")
    index.keep_below(10_000, 300)
    assert index.last() == OffsetEntry(1009, 100)
    index.keep_below(1000, 10_000)
    index.file.write()
    assert disk.content(PATH) == b""
    assert index.last() is None
    times = time_index(new_disk())
    times.keep_up_to(1019)
    assert times.last() == TimeEntry(70, 1019)
    times.keep_up_to(999)
    assert times.last() is None


def test_loading_leaves_out_broken_tails() -> None:
    disk = new_disk()
    offset_index(disk).file.write()
    whole = disk.content(PATH)
    for tail in (b"", bytes(8), bytes(80), b"\0\0\1", bytes.fromhex("00000029 00000190")):
        disk.replace_content(PATH, whole + tail)
        index = OffsetIndex(disk, PATH, BASE)
        index.file.load(verify=True)
        assert index.file.count == 3
        index.append(1099, 500)
        index.file.write()
        assert disk.content(PATH) == whole + bytes.fromhex("00000063 000001f4")


def test_loading_what_was_closed_cleanly_only_leaves_out_zeros() -> None:
    disk = new_disk()
    index = offset_index(disk)
    index.append(1050, 0x100)
    index.file.write()
    whole = disk.content(PATH)
    for tail in (b"", bytes(800), bytes(3)):
        disk.replace_content(PATH, whole + tail)
        again = OffsetIndex(disk, PATH, BASE)
        again.file.load(verify=False)
        assert again.last() == OffsetEntry(1050, 0x100)


def test_looking_does_not_read() -> None:
    disk = new_disk()
    index = OffsetIndex(disk, PATH, BASE)
    assert not index.file.count_entries()
    disk.write_whole(PATH, bytes(9))
    assert not index.file.count_entries()
    disk.write_whole(PATH, bytes(8))
    assert index.file.count_entries()
    disk.write_whole(PATH, b"")
    with pytest.raises(CorruptLog):
        index.entry(0)
    index.file.release()
