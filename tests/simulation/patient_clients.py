"""Producers that wait as long as real clients do: what a broker forgets to answer shows as a pause.

librdkafka and Kafka's own client give a request thirty seconds. Clients that give up sooner would
hide a request that is never tried again.
"""

import asyncio
from typing import Any

from ballast.model.ids import TopicPartition
from tests.simulation.clients import Producer
from tests.simulation.violations import require

PRODUCE_TIMEOUT_MS = 30_000
REQUEST_TIMEOUT_S = 40.0
ANSWERED_WITHIN_S = 12.0
"""After the end of all faults: sessions that have expired take 3 s, connections are tried again
within a second, and a disk or a replica that was away is back after a few seconds more."""


class PatientProducer(Producer):
    """Notes since when it waits for which answer, and when it was acknowledged."""

    produce_timeout_ms = PRODUCE_TIMEOUT_MS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.times: list[float] = []
        self._waits = "nothing"

    async def _attempt(self, partition: TopicPartition, batch: bytes) -> int | None:
        self._waits = f"{partition} since {asyncio.get_running_loop().time():.3f} s"
        offset = await super()._attempt(partition, batch)
        self._waits = "nothing"
        return offset

    def _acknowledged(
        self, partition: TopicPartition, offset: int, key: bytes | None, value: bytes | None
    ) -> None:
        super()._acknowledged(partition, offset, key, value)
        self.times.append(asyncio.get_running_loop().time())

    async def check_answered(self, running: "asyncio.Task[None]") -> None:
        """Check that its last request is answered, now that nothing is in the way (W3)."""
        done, _ = await asyncio.wait({running}, timeout=ANSWERED_WITHIN_S)
        require("W3", bool(done), f"{self.name} waits for {self._waits}, with all faults healed")
