"""Finds newer leaders by asking other brokers, while ZooKeeper does not answer this one.

A broker that is cut off from ZooKeeper alone loses its leaderships, and gets no request of the
controller, which takes it for dead. It cannot acknowledge acks=all then (see `produce`), and its
clients would wait until their requests time out, for as long as the broker is cut off, because
their metadata may come from this broker too. (In Kafka that is so.)

Its followers have switched to the new leader. So when records wait for a member of the ISR that
does not fetch, and the registration is uncertain, the broker requests the metadata of another one.
A controller wrote any leader epoch there that is above its own: the broker stops leading, which
answers waiting requests with NOT_LEADER_OR_FOLLOWER, and names the new leader to its clients. It
follows that leader after LeaderAndIsr. Without such evidence nothing changes.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Collection, Iterator
from typing import Final

from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.broker.following.replica_roles import ReplicaStateHandler
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.messages.cluster.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

log = logging.getLogger(__name__)

PERIOD_S: Final = 0.5
ASK_TIMEOUT_S: Final = 2.0
VERSION: Final = 9
"""Of the Metadata request; leader epochs are in it since version 7."""

MAX_TOPICS: Final = 200
"""Topics in one request; others follow when these are settled."""

QUIET_FETCHES: Final = 2
"""A member of the ISR that misses this many of its fetches counts as not fetching."""


class NewerLeaders:
    """Determines which partitions led here are led by others in a newer epoch."""

    def __init__(
        self,
        replicas: ReplicaManager,
        replica_roles: ReplicaStateHandler,
        open_channel: Callable[[RegisteredBroker], BrokerChannel],
        is_certain: Callable[[], bool],
        rng: random.Random,
    ) -> None:
        """Make it; ``is_certain`` as `Registration.is_certain`."""
        self._replicas = replicas
        self._replica_roles = replica_roles
        self._open_channel = open_channel
        self._is_certain = is_certain
        self._random = rng

    async def run(self) -> None:
        """Check and ask until cancelled."""
        while True:
            await asyncio.sleep(PERIOD_S)
            if self._is_certain():
                continue
            topics = sorted({name.topic for name in self.suspects()})[:MAX_TOPICS]
            peers = [
                broker
                for broker in self._replicas.metadata.brokers.values()
                if broker.broker_id != self._replicas.identity.broker_id
            ]
            if not topics or not peers:
                continue
            peer = self._random.choice(peers)
            try:
                async with asyncio.timeout(ASK_TIMEOUT_S):
                    answer = await self._ask(peer, topics)
            except (NetError, TimeoutError) as error:
                log.info("broker %d does not say who leads: %r", peer.broker_id, error)
            else:
                self.take(answer)

    def suspects(self) -> Iterator[TopicPartition]:
        """Yield partitions led here whose records wait for a member that does not fetch."""
        now = self._replicas.clock()
        quiet_ms = QUIET_FETCHES * self._replicas.config.replica_fetch_wait_max_ms
        for partition in self._replicas.leading():
            view = partition.view
            if (
                view is not None
                and view.high_watermark < partition.log.log_end_offset
                and view.misses_a_member(now, quiet_ms)
            ):
                yield partition.name

    async def _ask(self, peer: RegisteredBroker, topics: Collection[str]) -> MetadataResponse:
        channel = self._open_channel(peer)
        try:
            answer = await channel.request(
                MetadataRequest(
                    topics=tuple(MetadataRequestTopic(name=topic) for topic in topics),
                    allow_auto_topic_creation=False,
                ),
                VERSION,
            )
            assert isinstance(answer, MetadataResponse)
            return answer
        finally:
            channel.abort()

    def take(self, answer: MetadataResponse) -> None:
        """Stop leading what another broker leads in a newer epoch, and record that leader."""
        replicas = self._replicas
        newer: dict[TopicPartition, PartitionMetadata] = {}
        for topic in answer.topics:
            for told in topic.partitions:
                name = TopicPartition(topic.name or "", told.partition_index)
                partition = replicas.partitions.get(name)
                if (
                    partition is not None
                    and partition.view is not None
                    and told.leader_epoch > partition.leader_epoch
                    and told.leader_id != replicas.identity.broker_id
                ):
                    newer[name] = PartitionMetadata(
                        leader=told.leader_id,
                        leader_epoch=told.leader_epoch,
                        isr=tuple(told.isr_nodes),
                        replicas=tuple(told.replica_nodes),
                    )
        if not newer:
            return
        replicas.metadata.update(newer.items(), replicas.metadata.brokers.values(), {})
        for name in newer:
            self._replica_roles.resign(name)
