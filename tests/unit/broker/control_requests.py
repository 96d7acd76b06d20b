"""Requests of a controller to brokers."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.protocol.messages.control.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from ballast.protocol.messages.control.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataTopicState,
)


def topic_states(
    states: Mapping[TopicPartition, tuple[LeaderAndIsr, ReplicaAssignment]], topic_id: UUID
) -> tuple[UpdateMetadataTopicState, ...]:
    """Return the partitions of an UpdateMetadata, each in a topic's entry of its own."""
    return tuple(
        UpdateMetadataTopicState(
            topic_name=name.topic,
            topic_id=topic_id,
            partition_states=(
                UpdateMetadataPartitionState(
                    partition_index=name.partition,
                    controller_epoch=state.controller_epoch,
                    leader=state.leader,
                    leader_epoch=state.leader_epoch,
                    isr=state.isr,
                    zk_version=state.zk_version,
                    replicas=assignment.replicas,
                ),
            ),
        )
        for name, (state, assignment) in states.items()
    )


def live_brokers(broker_ids: Iterable[int], port: int) -> tuple[UpdateMetadataBroker, ...]:
    """Return the brokers of an UpdateMetadata."""
    return tuple(
        UpdateMetadataBroker(
            id=broker_id,
            endpoints=(UpdateMetadataEndpoint(port=port, host=f"broker-{broker_id}"),),
        )
        for broker_id in broker_ids
    )


def stop_of(
    name: TopicPartition, controller_epoch: int, leader_epoch: int, *, delete: bool
) -> StopReplicaRequest:
    """Return the StopReplica of one replica."""
    partition = StopReplicaPartitionState(
        partition_index=name.partition, leader_epoch=leader_epoch, delete_partition=delete
    )
    topic = StopReplicaTopicState(topic_name=name.topic, partition_states=(partition,))
    return StopReplicaRequest(controller_epoch=controller_epoch, topic_states=(topic,))
