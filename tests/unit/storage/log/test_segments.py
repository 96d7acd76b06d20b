"""The segments of one log."""

from ballast.protocol.records import assign_offset
from ballast.storage.log.config import LogConfig
from ballast.storage.log.segment import Segment
from ballast.storage.log.segments import SEALED_OPEN_MAX, Segments
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG, DIRECTORY, append, batch, new_disk, reopened

TEN = LogConfig(segment_bytes=10 * len(batch()), index_interval_bytes=100)


def opened(count: int = 100) -> tuple[Segments, FakeDisk]:
    """Return the segments of a log of ``count`` records, ten per segment, and its disk."""
    disk = new_disk()
    log = reopened(disk, config=TEN)
    append(log, *[batch() for _ in range(count)])
    log.close(clean=True)
    bases = range(0, count, 10)
    found = [Segment(disk, DIRECTORY, base, 100) for base in bases]
    for segment, following in zip(found, bases[1:], strict=False):
        segment.open_sealed(following)
    found[-1].open_active()
    return Segments(disk, DIRECTORY, found), disk


def test_finding_segments() -> None:
    segments, _ = opened()
    assert len(segments) == 10
    bases = [segments.holding(offset).base_offset for offset in (0, 9, 10, 55, 99, 100)]
    assert bases == [0, 0, 10, 50, 90, 90]
    assert [segment.base_offset for segment in segments.following(85)] == [80, 90]
    assert (segments.first.base_offset, segments.active.base_offset) == (0, 90)
    assert segments.size_bytes == 100 * len(batch())
    assert [header.base_offset for header in segments.batches_from(77)] == list(range(77, 100))


def test_few_sealed_files_stay_open() -> None:
    segments, _ = opened()
    for offset in range(0, 100, 7):
        segments.holding(offset).read(offset, offset + 1, 1000, at_least_one_batch=True)
    is_open = [segment.base_offset for segment in segments if segment._file is not None]
    assert len(is_open) == SEALED_OPEN_MAX + 1


def test_removing_from_both_ends() -> None:
    segments, _ = opened()
    segments.retire_below(35)
    assert [segment.base_offset for segment in segments] == [30, 40, 50, 60, 70, 80, 90]
    assert segments.truncate(52) == 52
    assert [segment.base_offset for segment in segments] == [30, 40, 50]
    assert not segments.active.sealed
    assert not segments.names_changed
    segments.restart_at(7)
    assert [segment.base_offset for segment in segments] == [7]
    segments.release()


def retired(disk: FakeDisk) -> list[str]:
    return [name for name in disk.names(DIRECTORY) if name.endswith(".deleted")]


def test_files_of_dropped_segments_stay_for_a_while() -> None:
    segments, disk = opened()
    segments.retire_below(15)
    assert retired(disk) == [f"{0:020d}{kind}.deleted" for kind in (".index", ".log", ".timeindex")]
    assert segments.names_changed
    segments.remove_retired(100, delay_ms=50)
    segments.retire_below(25)
    segments.remove_retired(149, delay_ms=50)
    assert len(retired(disk)) == 6
    segments.remove_retired(150, delay_ms=50)
    assert retired(disk) == [
        f"{10:020d}{kind}.deleted" for kind in (".index", ".log", ".timeindex")
    ]
    segments.remove_retired(199, delay_ms=50)
    assert retired(disk) == []


def test_a_segment_may_go_twice_under_one_name() -> None:
    segments, disk = opened(20)
    for _ in range(2):
        segments.retire_below(10)
        segments.remove_retired(0, delay_ms=5)
        segments.restart_at(0)
        segments.roll(segments.make_next(10))
    segments.remove_retired(5, delay_ms=5)
    assert retired(disk) == []


def test_a_read_goes_on_in_the_next_segment_that_has_something() -> None:
    """Kafka's compaction may leave a segment that ends long before the next one begins."""
    disk = new_disk()
    log = reopened(disk, config=CONFIG)
    append(log, batch(), batch())
    log.roll()
    append(log, batch(), batch())
    log.close(clean=True)
    for suffix in (".log", ".index", ".timeindex"):
        disk.rename(f"{DIRECTORY}/{2:020d}{suffix}", f"{DIRECTORY}/{50:020d}{suffix}")
    path = f"{DIRECTORY}/{50:020d}.log"
    data = bytearray(disk.content(path))
    for number, position in enumerate((0, len(data) // 2)):
        assign_offset(memoryview(data), position, 50 + number, 0)
    disk.replace_content(path, bytes(data))
    log = reopened(disk, clean=True)
    for offset in (2, 30, 50):
        assert bytes(log.read(offset, max_bytes=1000)) == bytes(data)
    assert log.read(2, max_bytes=1000, upper_offset=50) == b""
    assert log.read(1, max_bytes=10, at_least_one_batch=False) == b""
