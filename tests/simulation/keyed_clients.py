"""A producer and a reader of a compacted topic."""

import asyncio
import random
from collections.abc import Callable

from ballast.model.ids import TopicPartition
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import iter_batches
from tests.simulation.clients import RETRY_S, Leaders, Load, Producer, fetch
from tests.simulation.compaction_rules import CompactionRules
from tests.simulation.replication_rules import ReplicationRules
from tests.simulation.violations import require

KEYS = 3
"""Of each producer; nobody else writes them."""
BETWEEN_PASSES_S = 1.0
LAST_PASS_WITHIN_S = 60.0
SHARE_OF_DELETIONS = 0.1


class KeyedProducer(Producer):
    """Writes ever newer values of a few keys; repeats each until it knows, so none comes late."""

    def __init__(
        self,
        name: str,
        load: Load,
        leaders: Leaders,
        rules: tuple[ReplicationRules, CompactionRules],
        rng: random.Random,
        *,
        true_leader: Callable[[TopicPartition], str | None],
    ) -> None:
        super().__init__(
            name, load, leaders, rules[0], rng, true_leader=true_leader, idempotent=True
        )
        self._compaction = rules[1]

    def _draw(self) -> tuple[bytes, bytes | None]:
        is_deleted = self._random.random() < SHARE_OF_DELETIONS
        key = f"{self.name}-{self._random.randrange(KEYS)}".encode()
        return key, None if is_deleted else b"%d" % self._count

    def _acknowledged(
        self, partition: TopicPartition, offset: int, key: bytes | None, value: bytes | None
    ) -> None:
        assert key is not None
        self._compaction.acknowledge(partition, offset, key, value)


class TableReader:
    """Reads a compacted partition from its start again and again, as one that restores a table.

    What it reads is committed, in order (P11); at the end of a pass it knows of each key what was
    the newest when the pass began, or something newer (P17).
    """

    def __init__(self, load: Load, leaders: Leaders, rules: CompactionRules) -> None:
        self.passes = 0
        self._load = load
        self._leaders = leaders
        self._rules = rules

    async def run(self) -> None:
        """Read until the load is over."""
        while not self._load.is_over:
            for partition in self._load.partitions:
                await self.read_all(partition, lambda: self._load.is_over)
                await asyncio.sleep(BETWEEN_PASSES_S)

    async def read_to_the_end(self) -> None:
        """Read everything once more, with all faults healed."""
        async with asyncio.timeout(LAST_PASS_WITHIN_S):
            for partition in self._load.partitions:
                await self.read_all(partition, lambda: False)

    async def read_all(self, partition: TopicPartition, gives_up: Callable[[], bool]) -> None:
        """Read from the start to the end, or until it gives up."""
        wanted = dict(self._rules.newest.get(partition, {}))
        found: dict[bytes, int] = {}
        position = 0
        while position < self._rules.ends.get(partition, 0):
            data = await fetch(self._leaders, partition, position)
            if data:
                position = self._take(partition, data, position, found)
            elif gives_up():
                return
            else:
                await asyncio.sleep(RETRY_S)
        self.passes += 1
        for key, offset in wanted.items():
            text = f"{partition}: {key!r} read at {found.get(key)}, not at {offset} or later"
            require("P17", found.get(key, -1) >= offset, text)

    def _take(
        self, partition: TopicPartition, data: bytes, position: int, found: dict[bytes, int]
    ) -> int:
        """Take what a fetch gave; return where the next one begins."""
        committed = self._rules.committed.get(partition, {})
        for place, header in iter_batches(data):
            for record in read_records(data, place):
                if record.offset < position:
                    continue
                text = f"{partition} {record.offset}"
                kept = committed.get(record.offset)
                require("P11", kept is not None, f"{text}: read before commit")
                assert kept is not None
                same = kept[1:] == (record.key, record.value)
                require("P11", same, f"{text}: other record")
                if record.key is not None:
                    found[record.key] = record.offset
            position = max(position, header.next_offset)
        return position
