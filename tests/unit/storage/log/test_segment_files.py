from ballast.protocol.records import read_batch_header
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from ballast.storage.log.segment import Segment, mark_of
from tests.unit.storage.samples import DIRECTORY, append, batch, contents, new_disk, reopened

CONFIG = LogConfig(segment_bytes=400, preallocate=True)
FIRST = f"{DIRECTORY}/{0:020d}.log"


def path_of(log: Log) -> str:
    return log.segments.active.path


def test_a_new_segment_has_its_whole_size() -> None:
    disk = new_disk()
    log = reopened(disk, config=CONFIG)
    assert (disk.size(FIRST), log.size_bytes) == (400, 0)
    append(log, *[batch(size=100) for _ in range(4)])
    assert log.segment_count == 2
    assert disk.size(FIRST) == log.segments.first.size < 400, "what is not used is cut at the roll"
    assert disk.size(path_of(log)) == 400
    assert len(contents(log)) == 4


def test_a_clean_close_cuts_what_is_not_used() -> None:
    for count in (0, 1):
        disk = new_disk()
        log = reopened(disk, config=CONFIG)
        append(log, *[batch() for _ in range(count)])
        log.config = LogConfig(segment_bytes=400)
        log.close(clean=True)
        disk.crash()
        assert disk.size(FIRST) == log.size_bytes
        assert reopened(disk, clean=True).log_end_offset == count


def test_recovery_ends_at_the_last_batch() -> None:
    disk = new_disk()
    append(reopened(disk, config=CONFIG), batch(), batch())
    log = reopened(disk, config=CONFIG)
    assert log.log_end_offset == 2
    append(log, batch(size=100))
    assert [offset for offset, _ in contents(log)] == [0, 1, 2]


def test_removal() -> None:
    disk = new_disk()
    segment = Segment(disk, DIRECTORY, 100, 200)
    segment.create()
    assert len(disk.names(DIRECTORY)) == 3
    segment.remove()
    assert disk.names(DIRECTORY) == []


def test_retired_files_keep_their_content_until_they_are_removed() -> None:
    disk = new_disk()
    segment = Segment(disk, DIRECTORY, 100, 200)
    segment.create()
    records = batch()
    segment.append(records, [mark_of(read_batch_header(records))])
    before = segment.read_at(0, segment.size)
    paths = segment.retire()
    assert [path.endswith(".deleted") for path in paths] == [True] * 3
    assert disk.names(DIRECTORY) == sorted(path.rpartition("/")[2] for path in paths)
    assert disk.read_whole(paths[0]) == before
