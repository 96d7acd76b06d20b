"""What compaction leaves of a log, and what it makes of changes while it is at work."""

from collections.abc import Generator
from dataclasses import replace

import pytest

from ballast.protocol.errors import CorruptRecords
from ballast.protocol.records import build_batch, iter_batches
from ballast.storage.cleaning.cleaner import Step, clean
from ballast.storage.errors import CleaningAborted
from ballast.storage.log.log import Log
from ballast.storage.log.retention import apply_retention
from tests.fakes.disk import FakeDisk
from tests.unit.storage.compacted import (
    COMPACTED,
    KEYS_MAX,
    bases,
    cleanable_of,
    cleaned_to,
    compacted,
    put,
    steps_of,
    texts,
)
from tests.unit.storage.samples import DIRECTORY, headers, new_disk, reopened


def test_of_each_key_the_newest_record_stays() -> None:
    log = compacted()
    put(log, "a1 b1 a2 c1 b2 a3 d1 a4 a5 a6")
    assert cleaned_to(log) == 8
    assert texts(log) == "3:c1 4:b2 6:d1 7:a4 8:a5 9:a6"
    assert log.log_end_offset == 10


def test_the_last_segment_is_not_read_for_keys() -> None:
    log = compacted()
    put(log, "a1 b1 c1 d1 a2")
    cleaned_to(log)
    assert texts(log) == "0:a1 1:b1 2:c1 3:d1 4:a2"


def test_a_clean_log_is_left_as_it_is() -> None:
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 b1 a2 b2 e1")
    assert cleaned_to(log) == 4
    files = {name: disk.content(f"{DIRECTORY}/{name}") for name in disk.names(DIRECTORY)}
    assert cleaned_to(log) == 4
    assert {name: disk.content(f"{DIRECTORY}/{name}") for name in disk.names(DIRECTORY)} == files


def test_small_segments_become_one() -> None:
    log = compacted(config=replace(COMPACTED, segment_bytes=285))
    put(log, "a1 b1 a2 b2 a3 b3 a4 b4 a5 b5 a6 b6 c1")
    assert bases(log) == [0, 4, 8, 12]
    end = cleaned_to(log)
    assert bases(log) == [0, 4, 8, 12]
    put(log, "d1 e1 f1 g1")
    assert cleaned_to(log, end) == 16
    assert bases(log) == [0, 12, 16]
    assert texts(log) == "10:a6 11:b6 12:c1 13:d1 14:e1 15:f1 16:g1"


def test_a_cleaned_log_is_read_by_time_and_after_a_restart() -> None:
    disk = new_disk()
    log = compacted(disk)
    for number in range(9):
        put(log, f"a{number}", at_ms=1000 * (number + 1))
    cleaned_to(log)
    assert log.offset_for_timestamp(3000) == (8000, 7)
    assert texts(log) == "7:a7 8:a8"
    log.flush()
    disk.crash()
    again = reopened(disk, config=COMPACTED, recovery_point=0)
    assert texts(again) == "7:a7 8:a8"
    assert (again.log_start_offset, again.log_end_offset) == (0, 9)
    assert again.offset_for_timestamp(3000) == (8000, 7)


def tombstones(disk: FakeDisk) -> Log:
    """Return a log whose first segment holds a tombstone and nothing else that stays."""
    log = compacted(disk)
    disk.wall_clock_ms = lambda: 10_000
    put(log, "a1 a- b1 b2")
    put(log, "c1")
    return log


def test_a_deletion_stays_for_the_pass_that_first_cleans_it_and_for_its_time() -> None:
    disk = new_disk()
    log = tombstones(disk)
    end = cleaned_to(log)
    assert texts(log) == "1:a- 3:b2 4:c1"
    disk.wall_clock_ms = lambda: 10_999
    put(log, "c2 c3 c4 c5")
    end = cleaned_to(log, end)
    assert texts(log) == "1:a- 3:b2 7:c4 8:c5"
    disk.wall_clock_ms = lambda: 12_000
    put(log, "c6 c7 c8 c9")
    end = cleaned_to(log, end)
    assert texts(log).startswith("1:a- ")
    put(log, "d1 d2 d3 d4")
    cleaned_to(log, end)
    assert texts(log) == "3:b2 12:c9 15:d3 16:d4"


def test_a_producers_last_sequence_number_stays() -> None:
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 a2", producer=(7, 0))
    put(log, "a3 a4 b1 b2")
    cleaned_to(log)
    assert texts(log) == "3:a4 4:b1 5:b2"
    kept = headers(log.read(0, max_bytes=1000))
    assert [(h.base_offset, h.record_count, h.last_sequence) for h in kept] == [
        (1, 0, 1),
        (3, 1, -1),
    ]
    for name in disk.names(DIRECTORY):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    disk.crash(keep_page_cache=True)
    again = reopened(disk, config=COMPACTED)
    (producer,) = again.producers.snapshot()
    assert (producer.producer_id, producer.last_sequence, producer.last_offset) == (7, 1, 1)


def test_a_producer_that_is_forgotten_leaves_nothing() -> None:
    log = compacted()
    put(log, "a1 a2", producer=(7, 0))
    put(log, "a3 a4 b1 b2")
    log.producers.clear()
    cleaned_to(log)
    assert [h.base_offset for h in headers(log.read(0, max_bytes=1000))] == [3]


def test_no_gap_is_left_between_segments() -> None:
    """Recovery takes a segment that begins behind the end of the one before for lost data."""
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 a2 a3 b1 b2 c1 c2 c3 c4")
    cleaned_to(log)
    assert texts(log) == "2:a3 4:b2 7:c3 8:c4"
    disk.crash(keep_page_cache=True)
    assert texts(reopened(disk, config=COMPACTED)) == "2:a3 4:b2 7:c3 8:c4"


def test_a_small_map_takes_several_passes() -> None:
    log = compacted()
    put(log, "a1 b1 c1 a2 b2 c2 a3 b3 d1")
    first = cleaned_to(log, keys_max=2)
    assert first == 2
    assert texts(log) == "0:a1 1:b1 2:c1 3:a2 4:b2 5:c2 6:a3 7:b3 8:d1"
    ends = [first]
    while ends[-1] < 8:
        ends.append(cleaned_to(log, ends[-1], keys_max=2))
    assert ends == sorted(set(ends))
    assert texts(log) == "5:c2 6:a3 7:b3 8:d1"


def test_records_above_the_mapped_part_stay() -> None:
    log = compacted()
    put(log, "a1 b1 a2 a3 c1")
    assert cleaned_to(log, keys_max=1) == 1
    assert texts(log) == "0:a1 1:b1 2:a2 3:a3 4:c1"


def test_records_without_key_go() -> None:
    """Such as were written before the topic was compacted."""
    log = compacted(config=replace(COMPACTED, cleanup_policy=("delete",)))
    records = build_batch([(None, b"1", 0), (b"a", b"1", 0)])
    log.append_as_leader(memoryview(bytearray(records)), leader_epoch=0, now_ms=0)
    put(log, "b1 c1 d1")
    log.config = COMPACTED
    cleaned_to(log)
    assert texts(log).startswith("1:a1 ")


def test_replicas_take_what_is_left() -> None:
    log = compacted()
    put(log, "a1 b1 a2 c1 b2 a3 d1 a4 a5 a6")
    cleaned_to(log)
    follower = compacted()
    while follower.log_end_offset < log.log_end_offset:
        follower.append_as_follower(
            memoryview(log.read(follower.log_end_offset, max_bytes=150)), now_ms=0
        )
    assert texts(follower) == texts(log)
    assert follower.log_end_offset == 10


@pytest.mark.parametrize("amid", range(1, 5))
def test_a_log_that_is_cut_meanwhile_is_left_alone(amid: int) -> None:
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 a2 a3 a4 a5 a6 a7 a8 a9")
    steps = steps_of(log)
    for _ in range(amid):
        next(steps)
    log.truncate_to(6)
    before = texts(log)
    with pytest.raises(CleaningAborted):
        next(steps)
    assert texts(log) == before
    assert not [name for name in disk.names(DIRECTORY) if "cleaned" in name or "swap" in name]


@pytest.mark.parametrize("end", ["retention", "closed"])
def test_a_log_that_goes_meanwhile_is_left_alone(end: str) -> None:
    log = compacted(config=replace(COMPACTED, cleanup_policy=("compact", "delete")))
    put(log, "a1 a2 a3 a4 a5 a6 a7 a8 a9")
    steps = steps_of(log)
    next(steps)
    if end == "retention":
        log.config = replace(log.config, retention_bytes=0)
        assert apply_retention(log, log.log_end_offset, 0)
    else:
        log.close(clean=False)
    with pytest.raises(CleaningAborted):
        next(steps)


def test_a_log_whose_folder_is_renamed_at_any_step_fails_no_directory() -> None:
    """Its replica was moved to another log directory, or deleted: the disk is well."""
    amid = 1
    while True:
        disk = new_disk()
        log = compacted(disk)
        put(log, "a1 a2 a3 a4 a5 a6 a7 a8 a9")
        steps = clean(log, cleanable_of(log), KEYS_MAX)
        if not is_amid_after(steps, amid):
            break
        log.close(clean=False)
        disk.rename(DIRECTORY, DIRECTORY + ".0123456789abcdef-delete")
        with pytest.raises(CleaningAborted):
            is_amid_after(steps, 100)
        amid += 1
    assert amid > 5


def is_amid_after(steps: Generator[Step, None, int], count: int) -> bool:
    """Take steps, flushes included, and return whether the cleaning goes on after them."""
    for _ in range(count):
        try:
            step = next(steps)
        except StopIteration:
            return False
        if not isinstance(step, int):
            step()
    return True


def test_appends_go_on_meanwhile() -> None:
    log = compacted()
    put(log, "a1 a2 a3 a4 a5")
    steps = steps_of(log)
    next(steps)
    put(log, "a6 a7 a8 a9 b1")
    for _ in steps:
        put(log, "c1")
    assert texts(log).startswith("3:a4 4:a5 5:a6 6:a7 7:a8 8:a9 9:b1 10:c1")


def test_giving_up_leaves_no_files() -> None:
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 a2 a3 a4 a5")
    steps = steps_of(log)
    next(steps)
    next(steps)
    assert [name for name in disk.names(DIRECTORY) if name.endswith(".cleaned")]
    steps.close()
    assert not [name for name in disk.names(DIRECTORY) if name.endswith(".cleaned")]


def test_a_batch_that_cannot_be_opened_ends_it() -> None:
    disk = new_disk()
    log = compacted(disk)
    put(log, "a1 a2 a3 a4 a5")
    log.flush()
    path = f"{DIRECTORY}/{0:020d}.log"
    data = bytearray(disk.content(path))
    data[61] = 3
    disk.replace_content(path, bytes(data))
    with pytest.raises(CorruptRecords):
        cleaned_to(log)
    assert disk.content(path) == bytes(data)


def test_work_is_cut_into_steps() -> None:
    log = compacted(config=replace(COMPACTED, segment_bytes=1 << 30))
    for _ in range(3):
        records = build_batch([(b"k%d" % n, b"v", 0) for n in range(1000)])
        log.append_as_leader(memoryview(bytearray(records)), leader_epoch=0, now_ms=0)
    log.roll()
    put(log, "a1")
    assert len([size_bytes for size_bytes in steps_of(log) if size_bytes]) == 6
    (batches,) = [list(iter_batches(log.read(0, max_bytes=1 << 20)))]
    assert [header.base_offset for _, header in batches] == [2000]
