import pytest

from ballast.model.ids import LEADER_DURING_DELETE, TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, commit, coordinate, fetch_offset

T0 = TopicPartition("t", 0)


def request(version: int, leader: int = 1, **fields: int) -> UpdateMetadataRequest:
    state = UpdateMetadataPartitionState(
        topic_name="t" if version < 5 else "", leader=leader, isr=(1,), replicas=(1, 2)
    )
    if version >= 5:
        grouped = UpdateMetadataTopicState(topic_name="t", partition_states=(state,))
        states = {"topic_states": (grouped,)}
    else:
        states = {"ungrouped_partition_states": (state,)}  # type: ignore[dict-item]
    broker = (
        UpdateMetadataBroker(id=1, v0_host="h", v0_port=5)
        if version == 0
        else UpdateMetadataBroker(id=1, endpoints=(UpdateMetadataEndpoint(host="h", port=5),))
    )
    return UpdateMetadataRequest(
        **{"controller_epoch": 3, **states, **fields},  # type: ignore[arg-type]
        live_brokers=(broker,),
    )


@pytest.mark.parametrize("version", range(8))
def test_every_version_is_taken(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        assert (await cluster.ask(1, request(version), version)).error_code == 0
        cache = cluster.brokers[1].context.metadata
        known = cache.partition(T0)
        assert known is not None
        assert (known.leader, known.replicas) == (1, (1, 2))
        assert cache.brokers[1].endpoint.port == 5

    simulate(main)


def test_stale_epochs_change_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.ask(1, request(7), 7)
        own = cluster.brokers[1].context.identity.broker_epoch
        for fields, code in (
            ({"controller_epoch": 2}, ErrorCode.STALE_CONTROLLER_EPOCH),
            ({"broker_epoch": own - 1}, ErrorCode.STALE_BROKER_EPOCH),
        ):
            answer = await cluster.ask(1, request(7, leader=2, **fields), 7)
            assert answer.error_code == code
        known = cluster.brokers[1].context.metadata.partition(T0)
        assert known is not None
        assert known.leader == 1

    simulate(main)


def test_a_partition_being_deleted_is_forgotten() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.ask(1, request(7), 7)
        await cluster.ask(1, request(7, leader=LEADER_DURING_DELETE), 7)
        assert cluster.brokers[1].context.metadata.partition(T0) is None

    simulate(main)


def test_groups_forget_what_is_deleted() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        assert await commit(cluster, 1, 5) == 0
        state = UpdateMetadataPartitionState(leader=LEADER_DURING_DELETE, controller_epoch=9)
        deleted = UpdateMetadataTopicState(topic_name="orders", partition_states=(state,))
        await cluster.ask(1, UpdateMetadataRequest(controller_epoch=9, topic_states=(deleted,)), 7)
        assert await fetch_offset(cluster, 1) == (0, -1)

    simulate(main, **AT_ONCE)
