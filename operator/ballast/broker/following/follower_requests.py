"""The fetch requests of a follower: positions, and how many bytes at once."""

from collections.abc import Iterable
from typing import Final

from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition
from ballast.model.settings.values import INT_MAX
from ballast.protocol.messages.records.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ballast.replication.follower import FetchState
from ballast.replication.follower_session import SessionFetch

CATCH_UP_FACTOR: Final = 2
"""How many times ``replica.fetch.max.bytes`` a lagging replica without throttle requests.

The round trip between two responses bounds the rate of catching up. A throttled replica requests as
much as in Kafka, because a throttle is no finer than one response.
"""


def partition_request(
    replicas: ReplicaManager, partition: Partition, state: FetchState
) -> FetchPartition:
    """Return one partition's entry of a fetch in ``state``."""
    return FetchPartition(
        partition=partition.name.partition,
        current_leader_epoch=state.leader_epoch,
        fetch_offset=state.fetch_offset,
        last_fetched_epoch=state.last_fetched_epoch,
        log_start_offset=partition.log.log_start_offset,
        partition_max_bytes=max_bytes(replicas, partition.name, state),
    )


def max_bytes(replicas: ReplicaManager, name: TopicPartition, state: FetchState) -> int:
    """Return how many bytes of a partition to request."""
    usual = replicas.config.replica_fetch_max_bytes
    if state.lag == 0 or replicas.throttles.follower.covers(name):
        return usual
    return min(CATCH_UP_FACTOR * usual, INT_MAX)


def fetch_request(
    replicas: ReplicaManager, fetch: SessionFetch[TopicPartition, FetchPartition]
) -> FetchRequest:
    """Return the request for one fetch of a session."""
    by_topic: dict[str, list[FetchPartition]] = {}
    for name, partition in fetch.asked.items():
        by_topic.setdefault(name.topic, []).append(partition)
    return FetchRequest(
        replica_id=replicas.identity.broker_id,
        max_wait_ms=replicas.config.replica_fetch_wait_max_ms,
        min_bytes=replicas.config.replica_fetch_min_bytes,
        max_bytes=replicas.config.replica_fetch_response_max_bytes,
        session_id=fetch.session_id,
        session_epoch=fetch.epoch,
        topics=tuple(
            [
                FetchTopic(topic=topic, partitions=tuple(partitions))
                for topic, partitions in by_topic.items()
            ]
        ),
        forgotten_topics_data=_forgotten(fetch.forgotten) if fetch.forgotten else (),
    )


def _forgotten(names: Iterable[TopicPartition]) -> tuple[ForgottenTopic, ...]:
    by_topic: dict[str, list[int]] = {}
    for name in names:
        by_topic.setdefault(name.topic, []).append(name.partition)
    return tuple(
        ForgottenTopic(topic=topic, partitions=tuple(numbers))
        for topic, numbers in by_topic.items()
    )
