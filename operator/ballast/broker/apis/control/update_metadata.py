"""UpdateMetadata (6), versions 0-7, from the controller.

Behaviour:
* A controller epoch below the highest seen is STALE_CONTROLLER_EPOCH; a broker epoch below this
  registration's is STALE_BROKER_EPOCH (KIP-380). Neither changes anything.
* The live brokers replace those known; the partitions named replace what was known of them.
* A leader of -2 says that the topic is being deleted: the partition is forgotten.
* A replica here that the partition does without is deleted (see `ballast.broker.following.strays`).
* One that is missing, and that the ISR does without, is asked a role for (see `missing_replicas`).
* Groups forget their offsets of partitions that were deleted.

Version notes:
* v0 gives one address per broker (v1 adds listeners); v5 groups partitions by topic and carries
  the broker epoch; v7 carries topic ids.
"""

from collections.abc import Iterable, Iterator

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.broker.following.strays import find_strays
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)


def handle(
    context: BrokerContext, request: UpdateMetadataRequest, info: RequestInfo
) -> UpdateMetadataResponse:
    """Take the controller's picture of the cluster."""
    fenced = context.replicas.fence.check(request.controller_epoch, request.broker_epoch)
    if fenced is not None:
        return UpdateMetadataResponse(error_code=fenced)
    described = dict(_entries(request, info.version))
    deleted = context.metadata.update(
        described.items(),
        _brokers(request.live_brokers, info.version),
        {topic.topic_name: topic.topic_id for topic in request.topic_states if topic.topic_id.int},
    )
    context.replica_roles.stop_replicas(list(find_strays(context.replicas, described)))
    context.replicas.missing.metadata_changed(described)
    context.replicas.damaged.metadata_changed(described)
    context.replica_roles.follow_known_leaders()
    context.groups.coordinator.forget_partitions(sorted(deleted))
    return UpdateMetadataResponse(error_code=ErrorCode.NONE)


def _entries(
    request: UpdateMetadataRequest, version: int
) -> Iterator[tuple[TopicPartition, PartitionMetadata]]:
    if version < 5:
        for state in request.ungrouped_partition_states:
            yield TopicPartition(state.topic_name, state.partition_index), _metadata(state)
        return
    for topic in request.topic_states:
        for state in topic.partition_states:
            yield TopicPartition(topic.topic_name, state.partition_index), _metadata(state)


def _metadata(state: UpdateMetadataPartitionState) -> PartitionMetadata:
    return PartitionMetadata(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        offline_replicas=tuple(state.offline_replicas),
    )


def _brokers(brokers: Iterable[UpdateMetadataBroker], version: int) -> Iterator[RegisteredBroker]:
    for broker in brokers:
        endpoints = (
            (Endpoint(host=broker.v0_host, port=broker.v0_port),)
            if version == 0
            else tuple(Endpoint(host=e.host, port=e.port) for e in broker.endpoints)
        )
        if endpoints:
            yield RegisteredBroker(broker_id=broker.id, endpoints=endpoints, rack=broker.rack)
