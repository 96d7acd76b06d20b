"""A log of keys, one record per batch, and what compaction leaves of it."""

from collections.abc import Generator, Iterator

from ballast.protocol.record_reader import read_records
from ballast.protocol.records import build_batch, iter_batches
from ballast.storage.cleaning.cleaner import clean
from ballast.storage.cleaning.compaction import Cleanable, find_cleanable
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import new_disk, reopened

NOW_MS = 1_000_000
KEYS_MAX = 1000

COMPACTED = LogConfig(
    cleanup_policy=("compact",),
    index_interval_bytes=100,
    segment_bytes=285,
    delete_retention_ms=1000,
)
"""Four records of `put` fill a segment."""


def compacted(disk: FakeDisk | None = None, config: LogConfig = COMPACTED) -> Log:
    """Open the log of a disk, which may be new."""
    return reopened(disk or new_disk(), config=config)


def put(
    log: Log,
    text: str,
    *,
    producer: tuple[int, int] | None = None,
    at_ms: int = 1000,
    epoch: int = 0,
) -> None:
    """Append ``a1 b2 a-``: keys and values of one letter each; - deletes the key.

    ``producer`` is an id and the sequence number of its first record.
    """
    for number, word in enumerate(text.split()):
        value = None if word[1] == "-" else word[1].encode()
        records = build_batch(
            [(word[0].encode(), value, at_ms)],
            producer_id=producer[0] if producer else -1,
            producer_epoch=0 if producer else -1,
            base_sequence=producer[1] + number if producer else -1,
        )
        log.append_as_leader(memoryview(bytearray(records)), leader_epoch=epoch, now_ms=at_ms)


def cleanable_of(log: Log, checkpoint: int | None = None) -> Cleanable:
    """Return what there is to clean of a log of which all is committed."""
    return find_cleanable(log, checkpoint, high_watermark=log.log_end_offset, now_ms=NOW_MS)


def steps_of(
    log: Log, checkpoint: int | None = None, keys_max: int = KEYS_MAX
) -> Generator[int, None, int]:
    """Yield the steps of cleaning a log of which all is committed; flushes are done in place."""
    steps = clean(log, cleanable_of(log, checkpoint), keys_max)
    try:
        while True:
            step = next(steps)
            if isinstance(step, int):
                yield step
            else:
                step()
    except StopIteration as end:
        cleaned: int = end.value
        return cleaned
    finally:
        steps.close()


def cleaned_to(log: Log, checkpoint: int | None = None, keys_max: int = KEYS_MAX) -> int:
    """Clean a log at one go; return where it is clean up to."""
    ends = []

    def remembered() -> Iterator[int]:
        ends.append((yield from steps_of(log, checkpoint, keys_max)))

    list(remembered())
    return ends[0]


def texts(log: Log) -> str:
    """Return the log's records as `put` takes them, each behind its offset."""
    words = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        before = offset
        data = log.read(offset, max_bytes=1000)
        for position, header in iter_batches(data):
            offset = header.next_offset
            words += [
                f"{r.offset}:{(r.key or b'?').decode()}{(r.value or b'-').decode()}"
                for r in read_records(data, position)
            ]
        assert offset > before, "a reader goes on"
    return " ".join(words)


def bases(log: Log) -> list[int]:
    """Return where the log's segments begin."""
    return [segment.base_offset for segment in log.segments]
