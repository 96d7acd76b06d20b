import pytest

from ballast.broker.broker import Broker
from ballast.broker.errors import PartitionError
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

ELSEWHERE = TopicPartition("elsewhere", 0)


def test_a_partition_elsewhere_and_one_nowhere() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(ELSEWHERE, 2, [2])
        replicas = cluster.brokers[1].replicas
        for name, code in (
            (ELSEWHERE, ErrorCode.NOT_LEADER_OR_FOLLOWER),
            (TopicPartition("nowhere", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ):
            with pytest.raises(PartitionError) as caught:
                replicas.find(name)
            assert caught.value.code == code

    simulate(main)


def save_high_watermarks(broker: Broker) -> None:
    broker.replicas.log_dirs.write_high_watermarks(broker.replicas.high_watermarks())


def test_high_watermarks_survive_a_restart_before_any_role_is_given() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a", b"b"))
        save_high_watermarks(cluster.brokers[1])
        cluster.kill(1)
        await cluster.start(1)
        save_high_watermarks(cluster.brokers[1])
        cluster.kill(1)
        await cluster.start(1)
        await cluster.lead(P0, 2, [1, 2])
        assert cluster.brokers[1].replicas.partitions[P0].high_watermark == 2

    simulate(main)


def test_a_follower_must_be_alive_to_join_the_isr() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2], isr=[1])
        await cluster.fetch(1, P0, 0, replica_id=2)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        assert view.maximal_isr == {1}
        await cluster.start(2)
        await cluster.tell_metadata()
        await cluster.fetch(1, P0, 0, replica_id=2)
        assert view.maximal_isr == {1, 2}

    simulate(main)


def test_a_topics_settings_reach_its_logs() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        parts = cluster.brokers[1].context
        parts.configs.set_topic(P0.topic, {"max.message.bytes": "70"})
        parts.replicas.reconfigure([P0.topic])
        answer = await cluster.produce(1, P0, batch(bytes(100)))
        assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE

    simulate(main)
