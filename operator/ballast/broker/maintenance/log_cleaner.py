"""Compacts logs one after another, the dirtiest first (Kafka's LogCleaner, with one thread).

After each step it pauses for as long as the bytes read and written take at
``log.cleaner.io.max.bytes.per.second``.

A replica that moves between log directories is not compacted: the copied part might keep a record
whose tombstone is missing from the rest.
"""

import asyncio
import logging
from collections.abc import Callable, Generator
from typing import Final

from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.protocol.errors import RecordsError
from ballast.storage.cleaning.cleaner import Step, clean
from ballast.storage.cleaning.compaction import Cleanable, find_cleanable
from ballast.storage.cleaning.latest_offsets import BYTES_PER_KEY
from ballast.storage.errors import CleaningAborted, CorruptLog, DiskError, StorageError
from ballast.storage.log.log import Log

log = logging.getLogger(__name__)

LOGS_PER_STEP: Final = 64
"""Logs that are checked in a row before other work gets its turn."""


class LogCleaner:
    """Finds the log that needs cleaning most, cleans it, and pauses when there is none."""

    def __init__(
        self, replicas: ReplicaManager, is_moving: Callable[[TopicPartition], bool]
    ) -> None:
        self._replicas = replicas
        self._is_moving = is_moving
        self._uncleanable: dict[TopicPartition, Log] = {}
        """Logs with a batch that cannot be decoded; they grow until the broker restarts."""
        self.max_dirty_ratio = 0.0
        """The largest ratio at the last check of all logs."""
        self._looked_at = replicas.clock()

    @property
    def uncleanable_count(self) -> int:
        """Logs that are not compacted, because a batch cannot be decoded."""
        return len(self._uncleanable)

    async def run(self) -> None:
        """Clean until cancelled, for at most half of the broker's time."""
        configs = self._replicas.configs
        while True:
            found = await self._find_dirtiest()
            if found is None:
                await asyncio.sleep(configs.broker_value("log.cleaner.backoff.ms") / 1000)
            else:
                await self._clean(*found)

    @property
    def idle_s(self) -> float:
        """Seconds since all logs were last checked."""
        return self._replicas.clock() - self._looked_at

    async def _find_dirtiest(self) -> tuple[Partition, Cleanable] | None:
        dirtiest: tuple[Partition, Cleanable] | None = None
        max_dirty_ratio = 0.0
        self._forget_replaced()
        for number, partition in enumerate(list(self._replicas.partitions.values())):
            if number % LOGS_PER_STEP == LOGS_PER_STEP - 1:
                await asyncio.sleep(0)
            if not self._may_clean(partition, partition.log):
                continue
            try:
                cleanable = self._look_at(partition)
            except StorageError as error:
                self._replicas.read_failed(partition.name, error)
                continue
            max_dirty_ratio = max(max_dirty_ratio, cleanable.dirty_ratio)
            is_due = cleanable.is_due(partition.log.config.min_cleanable_dirty_ratio)
            if is_due and (dirtiest is None or cleanable.dirty_ratio > dirtiest[1].dirty_ratio):
                dirtiest = partition, cleanable
        self.max_dirty_ratio = max_dirty_ratio
        self._looked_at = self._replicas.clock()
        return dirtiest

    def _look_at(self, partition: Partition) -> Cleanable:
        dirs = self._replicas.log_dirs
        cleanable = find_cleanable(
            partition.log,
            dirs.cleaner_offset(partition.name),
            high_watermark=partition.high_watermark,
            now_ms=self._replicas.wall_clock_ms(),
        )
        if cleanable.checkpoint_is_wrong:
            dirs.write_cleaner_offset(partition.name, cleanable.first_dirty_offset)
        return cleanable

    def _may_clean(self, partition: Partition, cleaned: Log) -> bool:
        """Whether the replica still has the same log, and is to be compacted."""
        name = partition.name
        return (
            self._replicas.partitions.get(name) is partition
            and partition.log is cleaned
            and cleaned.failure is None
            and cleaned.config.is_compacted
            and not self._is_moving(name)
            and name not in self._uncleanable
        )

    async def _clean(self, partition: Partition, cleanable: Cleanable) -> None:
        replicas, name, cleaned = self._replicas, partition.name, partition.log
        size = replicas.configs.broker_value("log.cleaner.dedupe.buffer.size")
        steps = clean(cleaned, cleanable, max(1, size // BYTES_PER_KEY))
        before_bytes = cleaned.size_bytes
        try:
            end_offset = None
            while end_offset is None and self._may_clean(partition, cleaned):
                end_offset = await self._next_step(steps)
            if end_offset is not None:
                await replicas.log_dirs.checkpoint_cleaner_offset(name, end_offset)
                log.info(
                    "%s: compacted up to %d, %d bytes to %d",
                    name,
                    end_offset,
                    before_bytes,
                    cleaned.size_bytes,
                )
        except CleaningAborted as error:
            log.info("%s", error)
        except (RecordsError, CorruptLog) as error:
            log.error("%s: is not compacted any more: %s", name, error)  # noqa: TRY400
            self._uncleanable[name] = cleaned
            if isinstance(error, CorruptLog):
                replicas.read_failed(name, error)
        except StorageError as error:
            replicas.storage_failed(name, error)
        finally:
            steps.close()

    async def _next_step(self, steps: Generator[Step, None, int]) -> int | None:
        """Execute one step, then pause as long as it took, or as its bytes may take.

        Return the offset up to which the log is clean after the last step, else None.
        """
        replicas = self._replicas
        began = replicas.clock()
        try:
            step = next(steps)
            while not isinstance(step, int):
                try:
                    await replicas.log_dirs.in_background(step)
                except DiskError as error:
                    step = steps.throw(error)
                else:
                    began = replicas.clock()
                    step = next(steps)
        except StopIteration as end:
            cleaned_to: int = end.value
            return cleaned_to
        rate = replicas.configs.broker_value("log.cleaner.io.max.bytes.per.second")
        await asyncio.sleep(max(replicas.clock() - began, step / rate))
        return None

    def _forget_replaced(self) -> None:
        for name, uncleanable in list(self._uncleanable.items()):
            partition = self._replicas.partitions.get(name)
            if partition is None or partition.log is not uncleanable:
                del self._uncleanable[name]
