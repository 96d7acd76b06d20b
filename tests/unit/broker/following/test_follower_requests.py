"""How much a follower asks for, and in which order."""

import pytest

from ballast.broker.following.follower_requests import (
    CATCH_UP_FACTOR,
    fetch_request,
    max_bytes,
    partition_request,
)
from ballast.model.ids import TopicPartition
from ballast.protocol.messages.records.fetch import FetchPartition
from ballast.replication.follower import FetchState
from ballast.replication.follower_session import SessionFetch
from ballast.replication.quota import ThrottledReplicas
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def state(lag: int | None) -> FetchState:
    return FetchState(leader_epoch=3, fetch_offset=8, last_fetched_epoch=2, lag=lag)


@pytest.mark.parametrize(("lag", "factor"), [(0, 1), (5, CATCH_UP_FACTOR), (None, CATCH_UP_FACTOR)])
def test_a_replica_that_is_behind_asks_for_more(lag: int | None, factor: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        assert max_bytes(cluster.brokers[1].replicas, P0, state(lag)) == factor * 1000

    simulate(main, replica_fetch_max_bytes="1000")


def test_a_throttled_replica_does_not() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        replicas = cluster.brokers[1].replicas
        replicas.throttles.follower.set_replicas(P0.topic, ThrottledReplicas(all_replicas=True))
        assert max_bytes(replicas, P0, state(5)) == 1000

    simulate(main, replica_fetch_max_bytes="1000")


def test_a_partition_says_where_and_in_which_epochs_it_is() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a", b"b"))
        replicas = cluster.brokers[1].replicas
        partition = replicas.partitions[P0]
        partition.log.raise_log_start_offset(1)
        assert partition_request(replicas, partition, state(0)) == FetchPartition(
            partition=0,
            current_leader_epoch=3,
            fetch_offset=8,
            last_fetched_epoch=2,
            log_start_offset=1,
            partition_max_bytes=1000,
        )

    simulate(main, replica_fetch_max_bytes="1000")


def test_a_request_says_what_its_session_does_by_topic() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(4)
        names = [TopicPartition(*name) for name in [("b", 2), ("a", 1), ("b", 0)]]
        fetch = SessionFetch(
            session_id=7,
            epoch=3,
            asked={name: FetchPartition(partition=name.partition) for name in names},
            forgotten=[TopicPartition("c", 5), TopicPartition("a", 4), TopicPartition("c", 1)],
        )
        request = fetch_request(cluster.brokers[4].replicas, fetch)
        assert (request.replica_id, request.max_bytes) == (4, 5000)
        assert (request.session_id, request.session_epoch) == (7, 3)
        assert [
            (topic.topic, [partition.partition for partition in topic.partitions])
            for topic in request.topics
        ] == [("b", [2, 0]), ("a", [1])]
        assert [(t.topic, t.partitions) for t in request.forgotten_topics_data] == [
            ("c", (5, 1)),
            ("a", (4,)),
        ]

    simulate(main, replica_fetch_response_max_bytes="5000")
