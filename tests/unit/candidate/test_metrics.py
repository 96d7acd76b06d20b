"""What a candidate shows to Prometheus."""

import asyncio

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest

from ballast.candidate.metrics import CandidateCollector
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ballast.protocol.messages.admin.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def lines_of(cluster: CandidateCluster, candidate_id: int) -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(CandidateCollector(cluster.candidates[candidate_id]))
    text = generate_latest(registry).decode()
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


def test_an_active_and_a_waiting_candidate() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        cluster.start_candidate(101)
        placed = (CreatableReplicaAssignment(partition_index=0, broker_ids=(1,)),)
        topics = tuple(
            CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=placed)
            for name in ("a", "b")
        )
        await channel.request(CreateTopicsRequest(topics=topics, timeout_ms=5000))
        move = ReassignablePartition(partition_index=0, replicas=(2,))
        await channel.request(
            AlterPartitionReassignmentsRequest(
                topics=(ReassignableTopic(name="a", partitions=(move,)),)
            )
        )
        cluster.stop_broker(1)
        await asyncio.sleep(1)
        active, waiting = lines_of(cluster, 100), lines_of(cluster, 101)
        assert active["ballast_controller_active"] == 1
        assert active["ballast_controller_epoch"] >= 1
        assert active["ballast_controller_offline_partitions"] == 2
        assert active["ballast_controller_reassigning_partitions"] == 1
        assert active["ballast_controller_event_queue_size"] == 0
        handled = sum(
            count
            for name, count in active.items()
            if name.startswith("ballast_controller_events_total")
        )
        assert active["ballast_event_queue_wait_seconds_count"] == handled > 0
        assert active["ballast_controller_elections_won_total"] == 1
        assert active['ballast_controller_events_total{type="CreateTopicsRequest"}'] == 1
        assert active['ballast_controller_events_total{type="BrokerChange"}'] >= 1
        assert waiting["ballast_controller_active"] == 0
        assert waiting["ballast_controller_elections_won_total"] == 0

    with_candidate(scenario)
