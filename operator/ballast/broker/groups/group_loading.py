"""Reading the groups and offsets of a partition of ``__consumer_offsets`` that is led here now."""

import asyncio
import logging
from typing import Final

from ballast.broker.partitions.partition import Partition
from ballast.coordinator.replay import Replay
from ballast.protocol.errors import RecordsError
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import iter_batches
from ballast.storage.errors import StorageError

log = logging.getLogger(__name__)

CHUNK_BYTES: Final = 256 * 1024
"""What is read at a time, with the broker's other work in between."""

RETRY_S: Final = 5.0
"""Pause before a log is read again that could not be read."""


async def load(partition: Partition) -> Replay | None:
    """Return what the log comes to; None once it is no longer led in the present term.

    The whole log counts, also what lies above the high watermark: every acknowledged commit is in
    the log of whoever was elected. A log that cannot be read is tried again for as long as it is
    led: its groups are not served with offsets missing.
    """
    term = partition.term
    while _is_led(partition, term):
        try:
            replay = await _read(partition, term)
        except (StorageError, RecordsError) as error:
            log.error("%s: groups cannot be loaded: %s", partition.name, error)  # noqa: TRY400
            await asyncio.sleep(RETRY_S)
        else:
            return replay if _is_led(partition, term) else None
    return None


def _is_led(partition: Partition, term: int) -> bool:
    return partition.view is not None and partition.term == term


async def _read(partition: Partition, term: int) -> Replay:
    """Raise `StorageError` or `RecordsError` for what cannot be read."""
    replay = Replay(partition.name.partition)
    offset = partition.log.log_start_offset
    while _is_led(partition, term) and offset < partition.log.log_end_offset:
        before = offset
        chunk = partition.log.read(offset, max_bytes=CHUNK_BYTES)
        for position, header in iter_batches(chunk):
            offset = header.next_offset
            if not header.is_control:
                records = read_records(chunk, position)
                replay.take(header.base_offset, ((r.key or b"", r.value) for r in records))
        if offset == before:
            raise StorageError(f"{partition.name}: nothing can be read at {offset}")
        await asyncio.sleep(0)
    return replay
