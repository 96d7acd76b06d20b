"""Replicas that are moved between the log directories of their brokers (key 34)."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.reassign.ports import ClusterUnavailable

ADMIN_OPTIONS = AdminOptions(
    client_id="directories", request_timeout_s=3.0, connect_timeout_s=1.0, call_timeout_s=5.0
)


class DirectoryMoves:
    """Asks one broker after another to move replicas; nothing is waited for."""

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        assignments: Mapping[TopicPartition, ReplicaAssignment],
        directories: Sequence[str],
        rng: random.Random,
        note: Callable[[str], None],
    ) -> None:
        self.is_over = False
        self.begun = 0
        self._addresses = addresses
        self._assignments = assignments
        self._directories = directories
        self._random = rng
        self._note = note

    async def run(self) -> None:
        """Ask until it is over."""
        admin = AdminClient(self._addresses, ADMIN_OPTIONS)
        while not self.is_over:
            await asyncio.sleep(self._random.uniform(0.1, 1.0))
            partition = self._random.choice(list(self._assignments))
            broker = self._random.choice(self._assignments[partition].replicas)
            path = self._random.choice(self._directories)
            try:
                refused = await admin.alter_replica_log_dirs(broker, {partition: path})
            except ClusterUnavailable as error:
                self._note(f"{partition} to {path} of {broker}: unknown, {error}")
            else:
                self.begun += not refused
                self._note(f"{partition} to {path} of {broker}: refused {refused}")
        await admin.close()
