from typing import Any

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from tests.unit.broker.broker_cluster import P0, Cluster, simulate


def request(version: int, **fields: Any) -> StopReplicaRequest:
    state = StopReplicaPartitionState(partition_index=0, leader_epoch=0, delete_partition=True)
    by_version: dict[str, Any]
    if version == 0:
        named = StopReplicaPartitionV0(topic_name="orders", partition_index=0)
        by_version = {"delete_partitions": True, "ungrouped_partitions": (named,)}
    elif version < 3:
        grouped = StopReplicaTopicV1(name="orders", partition_indexes=(0,))
        by_version = {"delete_partitions": True, "topics": (grouped,)}
    else:
        states = StopReplicaTopicState(topic_name="orders", partition_states=(state,))
        by_version = {"topic_states": (states,)}
    return StopReplicaRequest(**{"controller_epoch": 3, **by_version, **fields})


@pytest.mark.parametrize("version", range(4))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        answer = await cluster.ask(1, request(version), version)
        assert answer.error_code == 0
        (error,) = answer.partition_errors
        assert (error.topic_name, error.partition_index, error.error_code) == ("orders", 0, 0)
        assert P0 not in cluster.brokers[1].replicas.partitions
        assert not cluster.disks[1].exists("/logs/orders-0")

    simulate(main)


def test_stale_epochs_change_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        own = cluster.brokers[1].context.identity.broker_epoch
        for fields, code in (
            ({"controller_epoch": 0}, ErrorCode.STALE_CONTROLLER_EPOCH),
            ({"broker_epoch": own - 1}, ErrorCode.STALE_BROKER_EPOCH),
        ):
            answer = await cluster.ask(1, request(3, **fields), 3)
            assert answer.error_code == code
        assert P0 in cluster.brokers[1].replicas.partitions

    simulate(main)
