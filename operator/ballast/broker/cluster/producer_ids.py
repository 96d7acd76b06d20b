"""Producer ids for idempotent producers, taken from ZooKeeper a block at a time."""

import asyncio
from collections.abc import Iterator
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession

ALLOCATE_TIMEOUT_S: Final = 5.0


class ProducerIds:
    """Returns ids that are unique in the cluster."""

    def __init__(self, session: ZooKeeperSession, broker_id: int) -> None:
        self._session = session
        self._broker_id = broker_id
        self._block: Iterator[int] = iter(())
        self._allocating = asyncio.Lock()

    async def next(self) -> int:
        """Return a new id.

        Raises `ZooKeeperError`, `ZnodeError`, or TimeoutError when ZooKeeper does not answer.
        """
        producer_id = next(self._block, None)
        if producer_id is not None:
            return producer_id
        async with asyncio.timeout(ALLOCATE_TIMEOUT_S), self._allocating:
            while (producer_id := next(self._block, None)) is None:
                block = await self._session.use(
                    lambda store: store.allocate_producer_ids(self._broker_id)
                )
                self._block = iter(block)
            return producer_id
