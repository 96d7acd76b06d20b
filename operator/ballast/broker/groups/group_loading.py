"""Reads the groups and offsets of a partition of ``__consumer_offsets`` that is led here now."""

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
"""Bytes read at a time; other work gets its turn in between."""

RETRY_S: Final = 5.0
"""Pause before a log that could not be read is read again."""


async def load(partition: Partition) -> Replay | None:
    """Return the groups and offsets in the log; None once this broker has stopped leading it.

    The whole log counts, including records above the high watermark: every acknowledged commit is
    in the log of the elected leader. A log that cannot be read is retried while it is led, because
    its groups must not be served with offsets missing.
    """
    leadership_generation = partition.leadership_generation
    while _is_led(partition, leadership_generation):
        try:
            replay = await _read(partition, leadership_generation)
        except (StorageError, RecordsError) as error:
            log.error("%s: groups cannot be loaded: %s", partition.name, error)  # noqa: TRY400
            await asyncio.sleep(RETRY_S)
        else:
            return replay if _is_led(partition, leadership_generation) else None
    return None


def _is_led(partition: Partition, leadership_generation: int) -> bool:
    return partition.view is not None and partition.leadership_generation == leadership_generation


async def _read(partition: Partition, leadership_generation: int) -> Replay:
    """Raise `StorageError` or `RecordsError` for what cannot be read."""
    replay = Replay(partition.name.partition)
    offset = partition.log.log_start_offset
    while _is_led(partition, leadership_generation) and offset < partition.log.log_end_offset:
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
