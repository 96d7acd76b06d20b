"""Opening logs: torn tails, crashes between any two operations, damaged and missing files."""

from random import Random

import pytest

from ballast.replication.leader_epochs import EpochEntry
from ballast.storage.errors import CorruptLog
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from tests.fakes.disk import Crash, FakeDisk
from tests.unit.storage.samples import (
    DIRECTORY,
    append,
    batch,
    contents,
    headers,
    new_disk,
    reopened,
)

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)
FIRST_LOG = f"{DIRECTORY}/{0:020d}.log"


def files_of(disk: FakeDisk, suffixes: tuple[str, ...]) -> dict[str, bytes]:
    return {
        name: disk.content(f"{DIRECTORY}/{name}")
        for name in disk.names(DIRECTORY)
        if name.endswith(suffixes)
    }


def test_a_tail_torn_at_any_byte_is_cut_to_the_batch_before() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(3, size=20) for _ in range(4)])
    whole = disk.content(FIRST_LOG)
    last = len(batch(3, size=20))
    log.close(clean=False)
    for lost in range(1, last + 1):
        disk.replace_content(FIRST_LOG, whole[:-lost])
        log = reopened(disk)
        assert log.log_end_offset == 9
        assert disk.content(FIRST_LOG) == whole[:-last]
        append(log, batch())
        assert [base for base, _ in contents(log)] == [0, 3, 6, 9]
        log.close(clean=False)


def test_a_flipped_bit_anywhere_in_the_last_batch_is_found() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch(2), batch(2))
    whole = disk.content(FIRST_LOG)
    log.close(clean=False)
    start = len(whole) // 2
    # Base offset and leader epoch (bytes 0 to 7 and 12 to 15) lie outside the checksum.
    for position in [*range(start + 8, start + 12), *range(start + 16, len(whole))]:
        damaged = bytearray(whole)
        damaged[position] ^= 0x40
        disk.replace_content(FIRST_LOG, bytes(damaged))
        log = reopened(disk)
        assert log.log_end_offset == 2, position
        log.close(clean=False)


def test_garbage_behind_the_end_is_cut() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch())
    log.close(clean=False)
    whole = disk.content(FIRST_LOG)
    for garbage in (bytes(10), bytes(200), b"\xff" * 200, whole):
        disk.replace_content(FIRST_LOG, whole + garbage)
        again = reopened(disk)
        assert again.log_end_offset == 1
        assert disk.content(FIRST_LOG) == whole
        again.close(clean=False)


def test_recovery_makes_the_same_indexes_as_appending() -> None:
    for recovery_point in (0, 13, 37, 60):
        disk = new_disk()
        log = reopened(disk, config=SMALL)
        append(log, *[batch(timestamp=1000 + (n * 7) % 40) for n in range(60)])
        log.flush()
        expected = files_of(disk, (".index", ".timeindex"))
        log.close(clean=False)
        again = reopened(disk, config=SMALL, recovery_point=recovery_point)
        again.flush()
        assert files_of(disk, (".index", ".timeindex")) == expected
        assert again.log_end_offset == 60


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damage", ["missing", "odd length", "beyond the end"])
def test_damaged_indexes_are_rebuilt(suffix: str, clean: bool, damage: str) -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch(timestamp=1000 + n) for n in range(40)])
    log.close(clean=True)
    expected = files_of(disk, (".index", ".timeindex"))
    for name in files_of(disk, (suffix,)):
        path = f"{DIRECTORY}/{name}"
        if damage == "missing":
            disk.remove(path)
        elif damage == "odd length":
            disk.replace_content(path, disk.content(path) + b"\0")
        elif suffix == ".index":
            disk.replace_content(path, disk.content(path) + b"\x00\x00\x7f\xff\x00\x00\xff\xff")
    again = reopened(disk, config=SMALL, clean=clean, recovery_point=40)
    assert [base for base, _ in contents(again)] == list(range(40))
    assert again.offset_for_timestamp(1017) == (1017, 17)
    again.close(clean=True)
    if damage != "odd length":
        assert files_of(disk, (".index", ".timeindex")) == expected


def test_only_what_lies_behind_the_recovery_point_is_read() -> None:
    disk = new_disk()
    log = reopened(disk, config=LogConfig(segment_bytes=20_000, index_interval_bytes=400))
    append(log, *[batch(size=100) for _ in range(400)])
    log.flush()
    log.close(clean=False)
    size = log.size_bytes
    read = {0: 0, 390: 0}
    for recovery_point in read:
        disk.read_bytes = 0
        assert reopened(disk, recovery_point=recovery_point).log_end_offset == 400
        read[recovery_point] = disk.read_bytes
    assert read[0] > size
    assert read[390] < size / 4


def test_segments_behind_a_damaged_one_are_dropped() -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch() for _ in range(20)], epoch=1)
    log.begin_leader_epoch(2)
    append(log, *[batch() for _ in range(20)], epoch=2)
    log.close(clean=False)
    names = sorted(files_of(disk, (".log",)))
    path = f"{DIRECTORY}/{names[2]}"
    disk.replace_content(path, disk.content(path)[:-1])
    again = reopened(disk, config=SMALL)
    assert again.segment_count == 3
    assert sorted(files_of(disk, (".log",))) == names[:3]
    assert again.log_end_offset == int(names[3][:20]) - 1
    assert again.leader_epochs.entries == (EpochEntry(1, 0),)
    append(again, batch(), epoch=3)


def test_a_segment_that_does_not_continue_the_one_before_is_dropped() -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch() for _ in range(20)])
    log.close(clean=False)
    names = sorted(files_of(disk, (".log",)))
    path = f"{DIRECTORY}/{names[1]}"
    disk.replace_content(path, disk.content(path)[: -len(batch())])
    assert reopened(disk, config=SMALL).log_end_offset == int(names[2][:20]) - 1


def test_leader_epochs_are_found_again_in_the_batches() -> None:
    disk = new_disk()
    log = reopened(disk)
    for epoch in (1, 1, 4):
        append(log, batch(2), epoch=epoch)
    log.close(clean=True)
    expected = disk.content(f"{DIRECTORY}/leader-epoch-checkpoint")
    for damaged in (b"", b"0\n7\n1 0\n", b"\xff"):
        disk.replace_content(f"{DIRECTORY}/leader-epoch-checkpoint", damaged)
        again = reopened(disk, clean=True)
        assert again.leader_epochs.entries == (EpochEntry(1, 0), EpochEntry(4, 4))
        again.close(clean=True)
        assert disk.content(f"{DIRECTORY}/leader-epoch-checkpoint") == expected


def test_epochs_behind_the_recovery_point_are_those_of_the_batches() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch(2), epoch=1)
    append(log, batch(2), epoch=3)
    log.flush()
    log.truncate_to(2)
    append(log, batch(2), epoch=5)
    log.close(clean=False)
    assert disk.content(f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n2\n1 0\n3 2\n"
    again = reopened(disk, recovery_point=log.recovery_point)
    assert again.leader_epochs.entries == (EpochEntry(1, 0), EpochEntry(5, 2))


def test_a_torn_snapshot_is_passed_over() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(producer=(9, 0, n)) for n in range(3)])
    log.close(clean=True)
    path = f"{DIRECTORY}/{3:020d}.snapshot"
    disk.replace_content(path, disk.content(path)[:-1])
    again = reopened(disk)
    assert again.append_as_leader(batch(producer=(9, 0, 0)), leader_epoch=0, now_ms=1000).duplicate


def test_the_log_start_is_kept_when_the_data_is_lost() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch() for _ in range(9)])
    log.close(clean=False)
    disk.replace_content(FIRST_LOG, disk.content(FIRST_LOG)[: 2 * len(batch())])
    again = reopened(disk, log_start_offset=5)
    assert (again.log_start_offset, again.log_end_offset) == (5, 5)
    append(again, batch())
    assert [base for base, _ in contents(again)] == [5]


def test_orphaned_index_files_are_removed() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch())
    log.close(clean=True)
    disk.write_whole(f"{DIRECTORY}/{77:020d}.index", b"")
    assert reopened(disk).log_end_offset == 1
    assert f"{77:020d}.index" not in disk.names(DIRECTORY)


@pytest.mark.parametrize("keep_page_cache", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_a_crash_at_every_operation_loses_no_flushed_batch(
    keep_page_cache: bool, seed: int
) -> None:
    total = run_until_crash(new_disk(seed), None)[1]
    assert total > 100
    for crash_after in range(total):
        disk = new_disk(seed * 1000 + crash_after)
        history, _ = run_until_crash(disk, crash_after)
        disk.crash(keep_page_cache=keep_page_cache)
        log = reopened(disk, config=SMALL, recovery_point=history.recovery_point)
        check_against(log, history, kept=keep_page_cache)
        append(log, batch(2, producer=(9, 0, log.log_end_offset)), epoch=9)
        expected = contents(log)
        log.close(clean=True)
        assert contents(reopened(disk, config=SMALL, clean=True)) == expected


class History:
    """What a run did: the batches in the log, and up to where they are durable."""

    def __init__(self) -> None:
        self.current: list[tuple[int, int]] = []
        self.flushed = 0
        self.recovery_point = 0


def run_until_crash(disk: FakeDisk, crash_after: int | None) -> tuple[History, int]:
    """Append, flush and truncate until the disk dies; return the history and operations made."""
    history = History()
    before = disk.operations
    disk.crash_after = None if crash_after is None else before + crash_after
    random = Random(5)
    try:
        log = reopened(disk, config=SMALL)
        log.on_recovery_point_lowered = lambda: lower(history, log)
        for step in range(50):
            act(log, history, step, random)
    except Crash:
        pass
    return history, disk.operations - before


def act(log: Log, history: History, step: int, random: Random) -> None:
    if step % 11 == 10:
        log.flush()
        history.flushed = history.recovery_point = log.recovery_point
    elif step % 17 == 16:
        target = max(0, log.log_end_offset - random.randint(1, 12))
        keep = [one for one in history.current if one[0] + 1 < target]
        history.flushed = min(history.flushed, target)
        log.truncate_to(target)
        history.current = keep
        assert contents(log) == keep
    else:
        end = log.log_end_offset
        size = random.randint(0, 60)
        records = batch(2, size=size, producer=(9, 0, end))
        append(log, records, epoch=step // 10)
        history.current.append((end, len(records)))


def lower(history: History, log: Log) -> None:
    history.recovery_point = log.recovery_point


def epochs_in(log: Log) -> list[EpochEntry]:
    """Return the leader epochs in the batches."""
    found: dict[int, int] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        for header in headers(log.read(offset, max_bytes=1000)):
            found.setdefault(header.partition_leader_epoch, header.base_offset)
            offset = header.next_offset
    return [EpochEntry(*item) for item in sorted(found.items())]


def check_against(log: Log, history: History, *, kept: bool) -> None:
    stored = contents(log)
    assert [base for base, _ in stored] == list(range(0, 2 * len(stored), 2))
    assert list(log.leader_epochs.entries) == epochs_in(log)
    assert log.log_end_offset >= history.flushed - history.flushed % 2
    # Of the operation in which the process died, anything may have happened; of older ones, only
    # the newest batches may be missing, and what was truncated never comes back.
    common = min(len(stored), len(history.current))
    assert stored[:common] == history.current[:common]
    assert len(stored) <= len(history.current) + 1
    if kept:
        assert len(stored) >= len(history.current) - 7


@pytest.mark.parametrize("clean", [True, False])
def test_files_of_dropped_segments_are_removed(clean: bool) -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch() for _ in range(20)])
    log.raise_log_start_offset(13)
    assert files_of(disk, (".deleted",))
    log.close(clean=clean)
    again = reopened(disk, config=SMALL, clean=clean, log_start_offset=13)
    assert not files_of(disk, (".deleted",))
    assert [base for base, _ in contents(again)] == list(range(13, 20))


def test_nothing_is_cut_for_a_wrong_bit_in_what_was_durable() -> None:
    """Wherever it is: the log ends where it ended, or cannot be opened; its file stays whole."""
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(2) for _ in range(4)])
    whole = disk.content(FIRST_LOG)
    log.close(clean=False)
    size = len(whole) // 4
    opened = set()
    for position in range(size, 2 * size):
        damaged = bytearray(whole)
        damaged[position] ^= 0x40
        for clean in (True, False):
            disk.replace_content(FIRST_LOG, bytes(damaged))
            try:
                log = reopened(disk, recovery_point=6, clean=clean)
            except CorruptLog:
                pass
            else:
                opened.add(position - size)
                assert log.log_end_offset == 8
                log.close(clean=False)
            assert disk.content(FIRST_LOG) == damaged, (position, clean)
    assert {21, 60, size - 1} <= opened, "records and their checksums can be stepped over"


def test_a_log_that_ends_before_where_it_was_closed_is_damaged() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch(2), batch(2))
    log.close(clean=True)
    whole = disk.content(FIRST_LOG)
    disk.replace_content(FIRST_LOG, whole[: len(whole) // 2])
    with pytest.raises(CorruptLog, match="ends at 2, not at 4"):
        reopened(disk, recovery_point=4, clean=True)
