from typing import Any

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from tests.unit.broker.broker_cluster import P0, TOPIC_ID, Cluster, simulate


def request(version: int, topic: str = "orders", **fields: Any) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        topic_name=topic if version < 2 else "", leader=1, isr=(1,), replicas=(1,)
    )
    states: dict[str, Any] = (
        {"ungrouped_partition_states": (state,)}
        if version < 2
        else {
            "topic_states": (
                LeaderAndIsrTopicState(
                    topic_name=topic, topic_id=TOPIC_ID, partition_states=(state,)
                ),
            )
        }
    )
    leader = LeaderAndIsrLiveLeader(broker_id=1, host_name="broker-1", port=9092)
    return LeaderAndIsrRequest(
        **{"controller_epoch": 3, "live_leaders": (leader,), **states, **fields}
    )


@pytest.mark.parametrize("version", range(6))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, request(version), version)
        assert answer.error_code == 0
        errors = answer.topics[0].partition_errors if version >= 5 else answer.partition_errors
        assert [(e.partition_index, e.error_code) for e in errors] == [(0, 0)]
        partition = cluster.brokers[1].replicas.partitions[P0]
        assert partition.view is not None
        assert partition.log.topic_id == (TOPIC_ID if version >= 5 else None)

    simulate(main)


def test_stale_epochs_change_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.brokers[1].replicas.fence.controller_epoch = 3
        own = cluster.brokers[1].context.identity.broker_epoch
        stale: list[tuple[dict[str, Any], ErrorCode]] = [
            ({"controller_epoch": 2}, ErrorCode.STALE_CONTROLLER_EPOCH),
            ({"broker_epoch": own - 1}, ErrorCode.STALE_BROKER_EPOCH),
        ]
        for fields, code in stale:
            answer = await cluster.ask(1, request(5, **fields), 5)
            assert answer.error_code == code
        assert not cluster.brokers[1].replicas.partitions

    simulate(main)


@pytest.mark.parametrize("topic", ["../../etc", "..", ".", "a/b", "a\0b", "", "x" * 250])
def test_illegal_names_never_reach_the_disk(topic: str) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, request(5, topic=topic), 5)
        (error,) = answer.topics[0].partition_errors
        assert error.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
        assert cluster.disks[1].names("/logs") == [".lock", "meta.properties"]

    simulate(main)
