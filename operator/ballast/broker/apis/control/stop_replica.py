"""StopReplica (5), versions 0-3, from the controller.

Behaviour:
* A stale controller or broker epoch refuses the whole request (see `update_metadata`).
* Per partition: a leader epoch below the replica's is FENCED_LEADER_EPOCH; an equal one is taken
  (KAFKA-13972), so is -2 (the topic is being deleted) and -1 (not stated).
* Fetching stops; with delete the log's folder is renamed and removed later. A replica that is on
  disk without a role is deleted as well.

Version notes:
* v0-2 say delete for all partitions at once; v3 per partition, with its leader epoch (KIP-570).
"""

from collections.abc import Iterator

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.following.replica_roles import ReplicaStop
from ballast.model.ids import NO_EPOCH, TopicPartition
from ballast.protocol.messages.control.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)


def handle(
    context: BrokerContext, request: StopReplicaRequest, info: RequestInfo
) -> StopReplicaResponse:
    """Stop, and delete, the replicas named."""
    fenced = context.replicas.fence.check(request.controller_epoch, request.broker_epoch)
    if fenced is not None:
        return StopReplicaResponse(error_code=fenced)
    outcomes = context.replica_roles.stop_replicas(_stops(request, info.version))
    return StopReplicaResponse(
        partition_errors=tuple(
            StopReplicaPartitionError(
                topic_name=name.topic, partition_index=name.partition, error_code=code
            )
            for name, code in outcomes.items()
        )
    )


def _stops(request: StopReplicaRequest, version: int) -> Iterator[ReplicaStop]:
    if version >= 3:
        for topic in request.topic_states:
            for state in topic.partition_states:
                yield ReplicaStop(
                    name=TopicPartition(topic.topic_name, state.partition_index),
                    leader_epoch=state.leader_epoch,
                    delete=state.delete_partition,
                )
        return
    if version == 0:
        listed = request.ungrouped_partitions
        names = [TopicPartition(p.topic_name, p.partition_index) for p in listed]
    else:
        names = [TopicPartition(t.name, p) for t in request.topics for p in t.partition_indexes]
    for name in names:
        yield ReplicaStop(name=name, leader_epoch=NO_EPOCH, delete=request.delete_partitions)
