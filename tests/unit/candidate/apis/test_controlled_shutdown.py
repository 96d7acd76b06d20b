"""ControlledShutdown at a candidate's endpoint."""

import pytest

from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.control.controlled_shutdown import ControlledShutdownRequest
from ballast.znodes import broker_ids
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def epoch(cluster: CandidateCluster, broker_id: int) -> int:
    stat = cluster.zookeeper.stat(broker_ids.path(broker_id))
    assert stat is not None
    return stat.czxid


@pytest.mark.parametrize("version", range(4))
def test_leaders_move_away(version: int) -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        topic = CreatableTopic(name="t", num_partitions=6, replication_factor=2)
        await channel.request(CreateTopicsRequest(topics=(topic,), timeout_ms=5000))
        response = await channel.request(
            ControlledShutdownRequest(broker_id=2, broker_epoch=epoch(cluster, 2)), version
        )
        assert (response.error_code, response.remaining_partitions) == (ErrorCode.NONE, ())

    with_candidate(scenario)


def test_what_nobody_can_take_over_remains() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        topic = CreatableTopic(name="t", num_partitions=3, replication_factor=2)
        await channel.request(CreateTopicsRequest(topics=(topic,), timeout_ms=5000))
        remaining = []
        for broker_id in (1, 2, 3):
            response = await channel.request(
                ControlledShutdownRequest(
                    broker_id=broker_id, broker_epoch=epoch(cluster, broker_id)
                )
            )
            assert response.error_code == ErrorCode.NONE
            remaining += [
                (partition.topic_name, partition.partition_index)
                for partition in response.remaining_partitions
            ]
        assert sorted(remaining) == [("t", 0), ("t", 1), ("t", 2)]

    with_candidate(scenario)


@pytest.mark.parametrize(
    ("broker_id", "broker_epoch", "error"),
    [(9, 1, ErrorCode.BROKER_NOT_AVAILABLE), (1, 1, ErrorCode.STALE_BROKER_EPOCH)],
)
def test_refusals(broker_id: int, broker_epoch: int, error: ErrorCode) -> None:
    async def scenario(_: CandidateCluster, channel: BrokerChannel) -> None:
        response = await channel.request(
            ControlledShutdownRequest(broker_id=broker_id, broker_epoch=broker_epoch)
        )
        assert response.error_code == error

    with_candidate(scenario)
