"""A group that stores offsets, and asks for them, while its coordinators come and go."""

import asyncio
import random
from collections.abc import Callable, Sequence

from ballast.broker.groups.offsets_topic import java_hash
from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ballast.protocol.messages.groups.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ballast.protocol.messages.groups.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from tests.simulation.clients import REQUEST_TIMEOUT_S, RETRY_S, Address
from tests.simulation.violations import require

OFFSETS_PARTITIONS = 2


class GroupClient:
    """Commits ever greater offsets; none that was acknowledged may be unknown afterwards."""

    def __init__(
        self,
        group: str,
        addresses: Sequence[Address],
        rng: random.Random,
        leader_host: Callable[[TopicPartition], str | None],
    ) -> None:
        """Make a client; ``leader_host`` tells who leads as ZooKeeper has it."""
        self.group = group
        self.partition = TopicPartition("t", 0)
        self.home = TopicPartition(OFFSETS_TOPIC, abs(java_hash(group)) % OFFSETS_PARTITIONS)
        self.acknowledged = -1
        self.commits = 0
        self.reads = 0
        self.is_over = False
        self._sent = -1
        self._addresses = list(addresses)
        self._random = rng
        self._leader_host = leader_host
        self._options = ChannelOptions(
            client_id=group,
            request_timeout_s=REQUEST_TIMEOUT_S,
            connect_timeout_s=1.0,
            backoff_max_s=0.5,
        )
        self._channels: dict[Address, BrokerChannel] = {}
        self._coordinator: BrokerChannel | None = None

    async def run(self) -> None:
        """Commit and read until it is over."""
        while not self.is_over:
            if not await self.commit() or not await self.read():
                await asyncio.sleep(RETRY_S)
            await asyncio.sleep(self._random.uniform(0.02, 0.2))

    async def commit(self) -> bool:
        """Commit the next offset once; return whether that was acknowledged."""
        self._sent += 1
        offset = self._sent
        partition = OffsetCommitRequestPartition(
            partition_index=self.partition.partition, committed_offset=offset
        )
        topic = OffsetCommitRequestTopic(name=self.partition.topic, partitions=(partition,))
        try:
            channel = await self._find()
            if channel is None:
                return self._forget_coordinator()
            request = OffsetCommitRequest(group_id=self.group, topics=(topic,))
            answer: OffsetCommitResponse = await channel.request(request, 8)
        except NetError:
            return self._forget_coordinator()
        if answer.topics[0].partitions[0].error_code != ErrorCode.NONE:
            return self._forget_coordinator()
        self.acknowledged = offset
        self.commits += 1
        return True

    async def read(self) -> bool:
        """Ask what is committed; return whether there was an answer, and check it."""
        known = self.acknowledged
        topic = OffsetFetchRequestTopic(
            name=self.partition.topic, partition_indexes=(self.partition.partition,)
        )
        try:
            channel = await self._find()
            if channel is None:
                return self._forget_coordinator()
            request = OffsetFetchRequest(group_id=self.group, topics=(topic,))
            answer: OffsetFetchResponse = await channel.request(request, 7)
        except NetError:
            return self._forget_coordinator()
        if answer.error_code != ErrorCode.NONE:
            return self._forget_coordinator()
        # A deposed coordinator that does not know it yet cannot know the latest commits either.
        if channel.host == self._leader_host(self.home):
            found = answer.topics[0].partitions[0].committed_offset
            self.reads += 1
            text = f"{self.group}: offset {known} was acknowledged, {found} is known"
            require("G1", known <= found <= self._sent, text)
        return True

    def _forget_coordinator(self) -> bool:
        """Ask again who it is before the next request."""
        self._coordinator = None
        return False

    async def _find(self) -> BrokerChannel | None:
        """Return a channel to the coordinator, None while there is none; raises `NetError`."""
        if self._coordinator is None:
            anybody = self._channel(self._random.choice(self._addresses))
            answer: FindCoordinatorResponse = await anybody.request(
                FindCoordinatorRequest(key=self.group), 3
            )
            if answer.error_code == ErrorCode.NONE:
                self._coordinator = self._channel((answer.host, answer.port))
        return self._coordinator

    def _channel(self, address: Address) -> BrokerChannel:
        if address not in self._channels:
            self._channels[address] = BrokerChannel(*address, self._options)
        return self._channels[address]
