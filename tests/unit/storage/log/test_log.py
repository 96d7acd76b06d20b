"""Appends, reads, truncation."""

from collections.abc import Callable

import pytest

from ballast.protocol.errors import BatchTooLarge, CorruptRecords, InvalidRecords
from ballast.replication.leader_epochs import EpochEntry
from ballast.replication.producer_state import InvalidProducerEpoch, OutOfOrderSequence
from ballast.storage.errors import (
    AppendTooLarge,
    LogFailed,
    OffsetOutOfRange,
    StaleLeaderEpoch,
    UnexpectedOffset,
)
from ballast.storage.log.config import LogConfig
from tests.unit.storage.samples import (
    CONFIG,
    DIRECTORY,
    append,
    batch,
    contents,
    headers,
    joined,
    new_disk,
    reopened,
)

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


def test_leader_append_sets_offsets_and_epoch_in_place() -> None:
    log = reopened(new_disk())
    records = joined(batch(3), batch(2, timestamp=5000))
    info = log.append_as_leader(records, leader_epoch=7, now_ms=0)
    assert (info.first_offset, info.last_offset, info.max_timestamp) == (0, 4, 5001)
    assert (info.batches, info.size_bytes, info.duplicate) == (2, len(records), False)
    assert log.log_end_offset == 5
    stored = headers(log.read(0, max_bytes=10_000))
    assert [(h.base_offset, h.partition_leader_epoch) for h in stored] == [(0, 7), (3, 7)]
    assert bytes(records) == log.read(0, max_bytes=10_000)
    assert log.leader_epochs.entries == (EpochEntry(7, 0),)


def test_readonly_records_are_copied() -> None:
    log = reopened(new_disk())
    append(log, batch())
    records = memoryview(bytes(batch()))
    assert log.append_as_leader(records, leader_epoch=1, now_ms=0).first_offset == 1
    assert headers(bytes(records))[0].base_offset == 0


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        pytest.param(lambda data: data[:-1], CorruptRecords, id="short"),
        pytest.param(lambda data: data[:-1] + b"!", CorruptRecords, id="crc"),
        pytest.param(lambda data: data[:16] + b"\x09" + data[17:], CorruptRecords, id="magic"),
        pytest.param(lambda _: b"", InvalidRecords, id="empty"),
        pytest.param(lambda _: bytes(batch(size=1_200)), BatchTooLarge, id="batch too large"),
        pytest.param(lambda _: bytes(joined(*[batch(size=900)] * 3)), AppendTooLarge, id="list"),
        pytest.param(
            lambda _: bytes(joined(batch(producer=(1, 0, 0)), batch(producer=(1, 0, 1)))),
            InvalidRecords,
            id="two idempotent batches",
        ),
    ],
)
def test_refused_records_change_nothing(
    damage: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    disk = new_disk()
    log = reopened(disk, config=LogConfig(segment_bytes=2000, max_message_bytes=1000))
    append(log, batch())
    before = disk.content(f"{DIRECTORY}/{0:020d}.log")
    with pytest.raises(error):
        log.append_as_leader(memoryview(damage(bytes(batch()))), leader_epoch=0, now_ms=0)
    assert disk.content(f"{DIRECTORY}/{0:020d}.log") == before
    assert log.log_end_offset == 1
    append(log, batch())


def test_older_leader_epoch_is_refused() -> None:
    log = reopened(new_disk())
    append(log, batch(), epoch=5)
    with pytest.raises(StaleLeaderEpoch):
        append(log, batch(), epoch=4)


def test_follower_keeps_offsets_and_learns_epochs() -> None:
    leader, follower = reopened(new_disk()), reopened(new_disk())
    append(leader, batch(2), epoch=1)
    append(leader, batch(3), batch(), epoch=4)
    info = follower.append_as_follower(memoryview(leader.read(0, max_bytes=10_000)))
    assert (info.first_offset, info.last_offset, info.batches) == (0, 5, 3)
    assert follower.leader_epochs.entries == (EpochEntry(1, 0), EpochEntry(4, 2))
    assert follower.read(0, max_bytes=10_000) == leader.read(0, max_bytes=10_000)
    assert follower.append_as_follower(memoryview(b"")).batches == 0


def test_follower_takes_gaps_that_compaction_left() -> None:
    disk = new_disk()
    log = reopened(disk)
    log.append_as_follower(batch(2, leader_epoch=3))
    log.append_as_follower(batch(2, base_offset=5, leader_epoch=4))
    assert log.log_end_offset == 7
    assert log.leader_epochs.epoch_at(4) == 3
    assert [h.base_offset for h in headers(log.read(3, max_bytes=1000))] == [5]
    before = contents(log)
    disk.crash(keep_page_cache=True)
    assert contents(reopened(disk)) == before


def test_follower_refuses_repeats_epochs_going_down_and_bad_checksums() -> None:
    log = reopened(new_disk())
    log.append_as_follower(batch(2, leader_epoch=3))
    for records, error in [
        (batch(base_offset=1, leader_epoch=3), UnexpectedOffset),
        (batch(base_offset=2, leader_epoch=2), StaleLeaderEpoch),
        (memoryview(bytes(batch(base_offset=2, leader_epoch=3))[:-1] + b"!"), CorruptRecords),
    ]:
        with pytest.raises(error):
            log.append_as_follower(records)
    assert log.log_end_offset == 2
    assert contents(log) == [(0, len(batch(2)))]


def test_follower_drops_an_epoch_that_began_at_its_end_and_got_nothing() -> None:
    log = reopened(new_disk())
    append(log, batch(), epoch=1)
    log.begin_leader_epoch(5)
    log.append_as_follower(batch(base_offset=1, leader_epoch=3))
    assert log.leader_epochs.entries == (EpochEntry(1, 0), EpochEntry(3, 1))


def test_reads_return_whole_batches_within_the_limits() -> None:
    log = reopened(new_disk())
    append(log, *[batch(2) for _ in range(20)])
    size = len(batch(2))

    def bases(offset: int, max_bytes: int, upper: int | None = None) -> list[int]:
        data = log.read(offset, max_bytes=max_bytes, upper_offset=upper)
        return [header.base_offset for header in headers(data)]

    assert bases(0, 3 * size) == [0, 2, 4]
    assert bases(0, 3 * size + size // 2) == [0, 2, 4]
    assert bases(6, 3 * size) == [6, 8, 10]
    assert bases(7, size) == [6]
    assert bases(0, 1) == [0]
    assert log.read(0, max_bytes=1, at_least_one_batch=False) == b""
    assert bases(30, 10_000) == [30, 32, 34, 36, 38]
    assert bases(30, 10_000, upper=34) == [30, 32]
    assert bases(30, 10_000, upper=33) == [30]
    assert bases(30, 10_000, upper=30) == []
    assert bases(40, 10_000) == []
    for outside in (-1, 41):
        with pytest.raises(OffsetOutOfRange):
            log.read(outside, max_bytes=1)


def test_every_offset_reads_the_same_with_and_without_remembered_positions() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(3, size=n) for n in range(120)])
    log.close(clean=True)
    for offset in range(0, 360, 7):
        fresh = reopened(disk, clean=True)
        for max_bytes in (1, 300, 100_000):
            first = headers(fresh.read(offset, max_bytes=max_bytes, upper_offset=300))
            again = headers(
                reopened(disk, clean=True).read(offset, max_bytes=max_bytes, upper_offset=300)
            )
            assert first == again
            if offset < 300:
                assert first[0].base_offset <= offset <= first[0].last_offset


def test_segments_roll_by_size_age_and_offset_range() -> None:
    disk = new_disk()
    log = reopened(disk, config=LogConfig(segment_bytes=300, segment_ms=1000))
    append(log, batch(size=100), batch(size=100))
    assert log.segment_count == 2
    append(log, batch(timestamp=2500))
    assert log.segment_count == 3
    names = [name for name in disk.names(DIRECTORY) if name.endswith(".log")]
    assert names == [f"{n:020d}.log" for n in (0, 1, 2)]
    assert contents(log) == [
        (0, len(batch(size=100))),
        (1, len(batch(size=100))),
        (2, len(batch())),
    ]


def test_reads_cross_segments_one_at_a_time() -> None:
    log = reopened(new_disk(), config=SMALL)
    append(log, *[batch() for _ in range(60)])
    assert log.segment_count > 5
    assert [base for base, _ in contents(log)] == list(range(60))
    assert log.size_bytes == 60 * len(batch())


def test_truncate_drops_segments_epochs_and_whole_batches() -> None:
    log = reopened(new_disk(), config=SMALL)
    append(log, *[batch(2) for _ in range(10)], epoch=1)
    append(log, *[batch(2) for _ in range(10)], epoch=2)
    log.truncate_to(26)
    assert log.log_end_offset == 26
    assert log.leader_epochs.entries == (EpochEntry(1, 0), EpochEntry(2, 20))
    log.truncate_to(15)
    assert log.log_end_offset == 14, "the batch of 14 and 15 goes whole"
    assert list(log.leader_epochs.entries) == [EpochEntry(1, 0)]
    append(log, batch(2), epoch=3)
    assert [base for base, _ in contents(log)] == list(range(0, 16, 2))
    log.truncate_to(0)
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (0, 0, 0)
    append(log, batch(), epoch=3)
    assert contents(log) == [(0, len(batch()))]


def test_truncate_at_the_end_drops_an_empty_epoch() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch(), epoch=1)
    log.begin_leader_epoch(2)
    log.truncate_to(1)
    assert log.leader_epochs.entries == (EpochEntry(1, 0),)
    log.flush()
    assert disk.content(f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n1\n1 0\n"


def test_truncate_fully_restarts_elsewhere() -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch(producer=(9, 0, n)) for n in range(20)])
    log.truncate_fully_and_start_at(500)
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (500, 500, 500)
    assert log.leader_epochs.entries == ()
    log.append_as_follower(batch(base_offset=500, leader_epoch=4))
    assert contents(log) == [(500, len(batch()))]
    log.close(clean=False)
    again = reopened(disk)
    assert (again.log_start_offset, again.log_end_offset) == (500, 501)


def test_raising_the_log_start_removes_whole_segments() -> None:
    log = reopened(new_disk(), config=SMALL)
    append(log, *[batch() for _ in range(20)], epoch=1)
    log.raise_log_start_offset(13)
    assert log.log_start_offset == 13
    assert log.leader_epochs.entries == (EpochEntry(1, 13),)
    assert [base for base, _ in contents(log)] == list(range(13, 20))
    with pytest.raises(OffsetOutOfRange):
        log.read(12, max_bytes=1)
    with pytest.raises(OffsetOutOfRange):
        log.raise_log_start_offset(21)


def test_duplicates_gaps_and_fencing_across_restarts() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, *[batch(2, producer=(9, 0, 2 * n)) for n in range(6)], now_ms=10**12)
    for clean in (True, False):
        info = log.append_as_leader(batch(2, producer=(9, 0, 10)), leader_epoch=0, now_ms=10**12)
        assert (info.duplicate, info.first_offset, info.last_offset) == (True, 10, 11)
        assert (info.batches, info.size_bytes) == (0, 0)
        with pytest.raises(OutOfOrderSequence):
            append(log, batch(producer=(9, 0, 13)), now_ms=10**12)
        assert log.log_end_offset == 12
        log.close(clean=clean)
        log = reopened(disk, clean=clean)
    append(log, batch(producer=(9, 1, 0)), now_ms=10**12)
    with pytest.raises(InvalidProducerEpoch):
        append(log, batch(producer=(9, 0, 12)), now_ms=10**12)


def test_followers_know_producers_and_truncation_forgets_batches() -> None:
    leader, follower = reopened(new_disk()), reopened(new_disk())
    append(leader, *[batch(producer=(9, 0, n)) for n in range(4)])
    follower.append_as_follower(memoryview(leader.read(0, max_bytes=10_000)))
    info = follower.append_as_leader(batch(producer=(9, 0, 3)), leader_epoch=1, now_ms=1000)
    assert info.duplicate
    follower.truncate_to(3)
    info = follower.append_as_leader(batch(producer=(9, 0, 3)), leader_epoch=1, now_ms=1000)
    assert (info.duplicate, info.first_offset) == (False, 3)


def test_producers_expire() -> None:
    log = reopened(new_disk(), config=LogConfig(producer_id_expiration_ms=100))
    append(log, batch(producer=(9, 0, 0)), now_ms=1000)
    with pytest.raises(OutOfOrderSequence):
        append(log, batch(producer=(9, 0, 5)), now_ms=1099)
    append(log, batch(producer=(9, 0, 5)), now_ms=1100)


@pytest.mark.parametrize("torn_bytes", [0, 1, 40, 100])
def test_a_failed_write_fences_the_log_and_shows_nothing(torn_bytes: int) -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch(size=50))
    before = log.read(0, max_bytes=10_000)
    disk.torn_write_bytes = torn_bytes
    with pytest.raises(LogFailed):
        append(log, batch(size=50))
    for _ in range(2):
        with pytest.raises(LogFailed):
            append(log, batch(size=50))
    for refused in (log.flush, lambda: log.truncate_to(0), lambda: log.begin_leader_epoch(9)):
        with pytest.raises(LogFailed):
            refused()
    assert (log.read(0, max_bytes=10_000), log.log_end_offset) == (before, 1)
    log.close(clean=True)
    again = reopened(disk)
    assert again.log_end_offset == 1
    append(again, batch(size=50))
    assert [base for base, _ in contents(again)] == [0, 1]


def test_space_runs_out_in_a_roll() -> None:
    disk = new_disk()
    log = reopened(disk, config=SMALL)
    append(log, *[batch() for _ in range(4)])
    disk.free_bytes = 10
    with pytest.raises(LogFailed):
        append(log, *[batch() for _ in range(4)])
    end = log.log_end_offset
    assert [base for base, _ in contents(log)] == list(range(end))
    disk.free_bytes = None
    log.close(clean=False)
    assert reopened(disk, config=SMALL).log_end_offset == end


def test_reading_survives_a_config_change() -> None:
    log = reopened(new_disk())
    log.config = CONFIG.with_overrides({"segment.bytes": "200"})
    append(log, *[batch() for _ in range(10)])
    assert log.segment_count > 1


def test_positions_are_those_of_the_batches_in_their_segments() -> None:
    log = reopened(new_disk())
    size = len(batch(2))
    append(log, batch(2), batch(2))
    assert [tuple(log.position_of(offset)) for offset in range(5)] == [
        (0, 0),
        (0, 0),
        (0, size),
        (0, size),
        (0, 2 * size),
    ]
    log.roll()
    assert tuple(log.position_of(4)) == (4, 0)
    assert tuple(log.position_of(3)) == (0, size)
    with pytest.raises(OffsetOutOfRange):
        log.position_of(5)
