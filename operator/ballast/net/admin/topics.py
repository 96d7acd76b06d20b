"""Topics and offsets for an admin client: CreateTopics, DeleteTopics, ListOffsets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient, request_error
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin import create_topics as create_wire
from ballast.protocol.messages.admin import delete_topics as delete_wire
from ballast.protocol.messages.records import list_offsets as offsets_wire
from ballast.reassign.ports import RequestError

LATEST = -1
EARLIEST = -2
"""Timestamps that stand for the end and the start of a log."""

_ANSWER_MARGIN_S = 5.0
"""The broker answers when its timeout has passed, so the client waits a little longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicToCreate:
    """One topic to create."""

    name: str
    num_partitions: int = -1
    """-1 = the cluster's default, and with ``assignments``."""
    replication_factor: int = -1
    """-1 = the cluster's default, and with ``assignments``."""
    assignments: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Replicas by partition, preferred first; otherwise the controller places them."""
    configs: Mapping[str, str] = field(default_factory=dict)


async def create_topics(
    admin: AdminClient,
    topics: Sequence[TopicToCreate],
    *,
    timeout_ms: int = 30_000,
    validate_only: bool = False,
) -> Mapping[str, RequestError]:
    """Create topics, return those refused; raises `ClusterUnavailable` (outcome unknown)."""
    request = create_wire.CreateTopicsRequest(
        topics=tuple(_creatable(topic) for topic in topics),
        timeout_ms=timeout_ms,
        validate_only=validate_only,
    )
    response: create_wire.CreateTopicsResponse = await admin.connections.ask_controller(
        request,
        lambda answer: {topic.error_code for topic in answer.topics},
        repeatable=False,
        timeout_s=timeout_ms / 1000 + _ANSWER_MARGIN_S,
    )
    return {
        topic.name: request_error(topic.error_code, topic.error_message)
        for topic in response.topics
        if topic.error_code != ErrorCode.NONE
    }


async def delete_topics(
    admin: AdminClient, names: Collection[str], *, timeout_ms: int = 30_000
) -> Mapping[str, RequestError]:
    """Delete topics, return those refused; raises `ClusterUnavailable` (outcome unknown)."""
    request = delete_wire.DeleteTopicsRequest(
        topics=tuple(delete_wire.DeleteTopicState(name=name) for name in sorted(names)),
        timeout_ms=timeout_ms,
    )
    response: delete_wire.DeleteTopicsResponse = await admin.connections.ask_controller(
        request,
        lambda answer: {topic.error_code for topic in answer.responses},
        repeatable=False,
        timeout_s=timeout_ms / 1000 + _ANSWER_MARGIN_S,
    )
    return {
        topic.name or "": request_error(topic.error_code, topic.error_message)
        for topic in response.responses
        if topic.error_code != ErrorCode.NONE
    }


async def list_offsets(
    admin: AdminClient, timestamps: Mapping[TopicPartition, int]
) -> Mapping[TopicPartition, int | RequestError]:
    """Return each partition's first offset at or after its timestamp (ms, `LATEST`, `EARLIEST`).

    -1 if no record is that recent. A partition without a leader has LEADER_NOT_AVAILABLE, an
    unknown one UNKNOWN_TOPIC_OR_PARTITION. Raises `ClusterUnavailable`, `BrokerUnavailable`.
    """
    view = await admin.describe_cluster({partition.topic for partition in timestamps})
    offsets: dict[TopicPartition, int | RequestError] = {}
    led_by: dict[int, list[TopicPartition]] = {}
    for partition in sorted(timestamps):
        known = view.partitions.get(partition)
        if known is None:
            offsets[partition] = request_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
        elif known.leader < 0:
            offsets[partition] = request_error(ErrorCode.LEADER_NOT_AVAILABLE, None)
        else:
            led_by.setdefault(known.leader, []).append(partition)
    for leader in sorted(led_by):
        request = _offsets_request({tp: timestamps[tp] for tp in led_by[leader]})
        response: offsets_wire.ListOffsetsResponse = await admin.connections.ask_broker(
            leader, request
        )
        for topic in response.topics:
            for answer in topic.partitions:
                partition = TopicPartition(topic.name, answer.partition_index)
                offsets[partition] = (
                    answer.offset
                    if answer.error_code == ErrorCode.NONE
                    else request_error(answer.error_code, None)
                )
    return offsets


def _creatable(topic: TopicToCreate) -> create_wire.CreatableTopic:
    return create_wire.CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=tuple(
            create_wire.CreatableReplicaAssignment(partition_index=number, broker_ids=replicas)
            for number, replicas in sorted(topic.assignments.items())
        ),
        configs=tuple(
            create_wire.CreatableTopicConfig(name=name, value=value)
            for name, value in sorted(topic.configs.items())
        ),
    )


def _offsets_request(timestamps: Mapping[TopicPartition, int]) -> offsets_wire.ListOffsetsRequest:
    topics: dict[str, list[offsets_wire.ListOffsetsPartition]] = {}
    for partition, timestamp in timestamps.items():
        topics.setdefault(partition.topic, []).append(
            offsets_wire.ListOffsetsPartition(
                partition_index=partition.partition, timestamp=timestamp
            )
        )
    return offsets_wire.ListOffsetsRequest(
        replica_id=-1,
        topics=tuple(
            offsets_wire.ListOffsetsTopic(name=name, partitions=tuple(partitions))
            for name, partitions in topics.items()
        ),
    )
