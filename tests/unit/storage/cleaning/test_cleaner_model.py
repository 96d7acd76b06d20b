"""Compaction among appends, flushes, truncations and crashes: no key loses its newest record."""

import contextlib
from random import Random

import pytest

from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, iter_batches
from ballast.storage.cleaning.cleaner import clean
from ballast.storage.cleaning.compaction import find_cleanable
from ballast.storage.errors import CleaningAborted
from ballast.storage.log.log import Log
from tests.fakes.disk import Crash, FakeDisk
from tests.unit.storage.compacted import COMPACTED
from tests.unit.storage.samples import DIRECTORY, ROOT, headers, reopened

STEPS = 120
KEYS = [b"a", b"b", b"c", b"d", b"long" * 10]

Row = tuple[bytes, bytes | None]


class Machine:
    """A log, and by offset all that was ever appended to it and not cut off."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.disk = FakeDisk(Random(seed))
        self.disk.make_directory(ROOT)
        self.disk.make_directory(DIRECTORY)
        self.now_ms = 10_000
        self.disk.wall_clock_ms = lambda: self.now_ms
        self.log = reopened(self.disk, config=COMPACTED)
        self.recovery_point = 0
        """As a checkpoint would have it."""
        self.checkpoint = 0
        """The cleaner's."""
        self.committed = 0
        """What is below is never cut off."""
        self.rows: dict[int, Row] = {}
        self.epoch = 0
        self.log.on_recovery_point_lowered = self.lowered

    def lowered(self) -> None:
        self.recovery_point = min(self.recovery_point, self.log.recovery_point)
        self.checkpoint = min(self.checkpoint, self.log.recovery_point)

    def append(self) -> None:
        random = self.random
        rows: list[Row] = [
            (random.choice(KEYS), None if random.random() < 0.2 else b"%d" % random.randrange(99))
            for _ in range(random.randint(1, 3))
        ]
        records = build_batch([(key, value, self.now_ms) for key, value in rows])
        first = self.log.log_end_offset
        self.log.append_as_leader(
            memoryview(bytearray(records)), leader_epoch=self.epoch, now_ms=self.now_ms
        )
        self.rows.update(enumerate(rows, first))
        self.now_ms += random.choice([0, 10, 700])

    def flush(self) -> None:
        self.log.flush()
        self.recovery_point = self.log.recovery_point

    def truncate(self) -> None:
        end = self.log.log_end_offset
        offset = max(end - self.random.randint(0, 8), self.committed)
        self.log.truncate_to(offset)
        self.cut()
        self.epoch += 1

    def cut(self) -> None:
        for offset in [offset for offset in self.rows if offset >= self.log.log_end_offset]:
            del self.rows[offset]

    def clean(self) -> None:
        log = self.log
        self.committed = max(self.committed, log.log_end_offset - self.random.randint(0, 4))
        cleanable = find_cleanable(
            log, self.checkpoint, high_watermark=self.committed, now_ms=self.now_ms
        )
        if not cleanable.dirty_bytes:
            return
        steps = clean(log, cleanable, self.random.choice([2, 4, 100]))
        if self.random.random() < 0.3:
            self.disk.crash_after = self.disk.operations + self.random.randint(0, 60)
        try:
            while True:
                step = next(steps)
                if self.random.random() < 0.1:
                    self.append()
                if self.random.random() < 0.02:
                    self.truncate()
                if not isinstance(step, int):
                    step()
        except StopIteration as end:
            self.recovery_point = log.recovery_point
            self.checkpoint = end.value
        except CleaningAborted:
            return
        except Crash:
            self.crash()
        finally:
            with contextlib.suppress(Crash):
                steps.close()
            self.disk.crash_after = None

    def crash(self) -> None:
        self.disk.crash(keep_page_cache=self.random.random() < 0.5)
        self.log = reopened(self.disk, config=COMPACTED, recovery_point=self.recovery_point)
        self.log.on_recovery_point_lowered = self.lowered
        assert self.log.log_end_offset >= self.recovery_point
        self.checkpoint = min(self.checkpoint, self.log.log_end_offset)
        self.committed = min(self.committed, self.log.log_end_offset)
        self.cut()

    def step(self) -> None:
        kind = self.random.choices(
            [self.append, self.flush, self.truncate, self.clean, self.crash], [60, 10, 4, 16, 6]
        )[0]
        with contextlib.suppress(Crash):
            kind()

    def check(self) -> None:
        found = stored(self.log)
        newest = {key: offset for offset, (key, _) in sorted(self.rows.items())}
        for offset, row in found.items():
            assert self.rows[offset] == row
        for key, offset in newest.items():
            if offset in found:
                continue
            assert self.rows[offset][1] is None, f"the newest record of {key!r} is gone"
            older = [at for at, (other, _) in found.items() if other == key]
            assert older == [], f"{key!r} is back after it was deleted"
        for before, after in zip(self.log.segments, [*self.log.segments][1:], strict=False):
            last = [*before.scan(0)][-1][1]
            assert last.next_offset == after.base_offset, "recovery would take this for a loss"


def stored(log: Log) -> dict[int, Row]:
    rows: dict[int, Row] = {}
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = log.read(offset, max_bytes=500)
        assert data, "a reader goes on"
        for position, header in iter_batches(data):
            assert header in headers(data)
            for record in read_records(data, position):
                assert record.key is not None
                rows[record.offset] = (record.key, record.value)
            offset = header.next_offset
    return rows


@pytest.mark.parametrize("seed", range(25))
def test_no_key_loses_its_newest_record(seed: int) -> None:
    machine = Machine(seed)
    for _ in range(STEPS):
        machine.step()
        machine.check()
    machine.log.roll()
    machine.checkpoint = 0
    end = machine.log.log_end_offset
    cleanable = find_cleanable(machine.log, 0, high_watermark=end, now_ms=machine.now_ms)
    for step in clean(machine.log, cleanable, 100):
        if not isinstance(step, int):
            step()
    machine.check()
    keys = [key for key, _ in stored(machine.log).values()]
    assert len(keys) == len(set(keys))
