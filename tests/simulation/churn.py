"""Topics that are created, moved and deleted again while everything else goes on."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.net.admin.topics import TopicToCreate, create_topics, delete_topics
from ballast.reassign.ports import ClusterUnavailable

PREFIX = "churn-"
TIMEOUT_MS = 2_000

ADMIN_OPTIONS = AdminOptions(
    client_id="churn", request_timeout_s=3.0, connect_timeout_s=1.0, call_timeout_s=5.0
)


class Churn:
    """One topic after another; nothing is waited for, so that requests overlap (KAFKA-8249)."""

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        draw_replicas: Callable[[], tuple[int, ...]],
        rng: random.Random,
        note: Callable[[str], None],
    ) -> None:
        self.is_over = False
        self.created = 0
        self.moved: set[str] = set()
        self._addresses = addresses
        self._draw_replicas = draw_replicas
        self._random = rng
        self._note = note

    async def run(self) -> None:
        """Create, move and delete topics until it is over."""
        admin = AdminClient(self._addresses, ADMIN_OPTIONS)
        while not self.is_over:
            self.created += 1
            topic = f"{PREFIX}{self.created}"
            await self._try("create", topic, self._create(admin, topic))
            await asyncio.sleep(self._random.uniform(0, 1.0))
            if self._random.random() < 0.5:
                self.moved.add(topic)
                targets = {TopicPartition(topic, 0): self._draw_replicas()}
                await self._try("move", topic, admin.alter_reassignments(targets))
                await asyncio.sleep(self._random.uniform(0, 0.5))
            await self._try("delete", topic, delete_topics(admin, [topic], timeout_ms=TIMEOUT_MS))
        await admin.close()

    async def delete_all(self, left: Callable[[], Sequence[str]]) -> None:
        """Delete what is there, until nothing is: a lost request may have been carried out late."""
        admin = AdminClient(self._addresses, ADMIN_OPTIONS)
        while names := left():
            deletion = delete_topics(admin, names, timeout_ms=TIMEOUT_MS)
            await self._try("delete", str(names), deletion)
            await asyncio.sleep(0.2)
        await admin.close()

    async def _create(self, admin: AdminClient, topic: str) -> object:
        assignments = {number: self._draw_replicas() for number in range(2)}
        to_create = TopicToCreate(name=topic, assignments=assignments)
        return await create_topics(admin, [to_create], timeout_ms=TIMEOUT_MS)

    async def _try(self, what: str, topic: str, request: Awaitable[object]) -> None:
        try:
            refused = await request
        except ClusterUnavailable as error:
            self._note(f"churn: {what} {topic}: unknown, {error}")
        else:
            self._note(f"churn: {what} {topic}: refused {refused}")
