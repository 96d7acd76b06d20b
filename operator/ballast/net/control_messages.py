"""The controller's requests as wire messages, and the responses of brokers as its events.

Versions are those of inter-broker protocol 2.8: LeaderAndIsr 5, UpdateMetadata 7, StopReplica 3.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, TypeVar, assert_never

from ballast.controller.state.control_requests import (
    ControlRequest,
    LeaderAndIsrControlRequest,
    LeaderAndIsrEntry,
    MetadataEntry,
    StopReplicaControlRequest,
    StopReplicaEntry,
    UpdateMetadataControlRequest,
)
from ballast.controller.state.events import (
    Event,
    LeaderAndIsrAnswered,
    StopReplicaAnswered,
    UpdateMetadataAnswered,
)
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.control import leader_and_isr as leader_and_isr_wire
from ballast.protocol.messages.control import stop_replica as stop_replica_wire
from ballast.protocol.messages.control import update_metadata as update_metadata_wire
from ballast.protocol.schema import ZERO_UUID, Message

LEADER_AND_ISR_VERSION = 5
UPDATE_METADATA_VERSION = 7
STOP_REPLICA_VERSION = 3

SECURITY_PROTOCOLS = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}
"""Kafka's ids of security protocols."""

_NAMES = {int(code): code.name for code in ErrorCode}

Entry = TypeVar("Entry", LeaderAndIsrEntry, MetadataEntry, StopReplicaEntry)


def to_wire(request: ControlRequest) -> tuple[Message, int]:
    """Return the message for a control request, and its version."""
    match request:
        case LeaderAndIsrControlRequest():
            return _leader_and_isr(request), LEADER_AND_ISR_VERSION
        case UpdateMetadataControlRequest():
            return _update_metadata(request), UPDATE_METADATA_VERSION
        case StopReplicaControlRequest():
            return _stop_replica(request), STOP_REPLICA_VERSION
        case _:
            assert_never(request)


def to_event(broker_id: int, request: ControlRequest, response: Any) -> Event:
    """Return the event for a broker's response to a control request."""
    error = error_name(response.error_code)
    match request:
        case LeaderAndIsrControlRequest():
            return LeaderAndIsrAnswered(
                broker_id=broker_id,
                error=error,
                partition_errors=_leader_and_isr_errors(request, error, response),
            )
        case UpdateMetadataControlRequest():
            return UpdateMetadataAnswered(
                broker_id=broker_id,
                error=error,
                partitions=tuple(entry.topic_partition for entry in request.entries),
            )
        case StopReplicaControlRequest():
            return StopReplicaAnswered(
                broker_id=broker_id,
                error=error,
                partition_errors=_stop_replica_errors(request, error, response),
                deleted=frozenset(
                    entry.topic_partition for entry in request.entries if entry.delete
                ),
            )
        case _:
            assert_never(request)


def error_name(code: int) -> str:
    """Return the name of an error code; a code that 2.8 does not know is UNKNOWN_SERVER_ERROR."""
    return _NAMES.get(code, ErrorCode.UNKNOWN_SERVER_ERROR.name)


# -- commands ----------------------------------------------------------------------------------


def _leader_and_isr(request: LeaderAndIsrControlRequest) -> Message:
    return leader_and_isr_wire.LeaderAndIsrRequest(
        controller_id=request.controller_id,
        controller_epoch=request.controller_epoch,
        broker_epoch=request.broker_epoch,
        topic_states=tuple(
            leader_and_isr_wire.LeaderAndIsrTopicState(
                topic_name=topic,
                topic_id=request.topic_ids.get(topic, ZERO_UUID),
                partition_states=tuple(_leader_and_isr_state(entry) for entry in entries),
            )
            for topic, entries in _by_topic(request.entries)
        ),
        live_leaders=tuple(
            leader_and_isr_wire.LeaderAndIsrLiveLeader(
                broker_id=broker.broker_id,
                host_name=broker.endpoint.host,
                port=broker.endpoint.port,
            )
            for broker in request.live_leaders
        ),
    )


def _leader_and_isr_state(
    entry: LeaderAndIsrEntry,
) -> leader_and_isr_wire.LeaderAndIsrPartitionState:
    state = entry.leader_and_isr
    return leader_and_isr_wire.LeaderAndIsrPartitionState(
        partition_index=entry.topic_partition.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        zk_version=state.zk_version,
        replicas=entry.replicas,
        adding_replicas=entry.adding_replicas,
        removing_replicas=entry.removing_replicas,
        is_new=entry.is_new,
    )


def _update_metadata(request: UpdateMetadataControlRequest) -> Message:
    return update_metadata_wire.UpdateMetadataRequest(
        controller_id=request.controller_id,
        controller_epoch=request.controller_epoch,
        broker_epoch=request.broker_epoch,
        topic_states=tuple(
            update_metadata_wire.UpdateMetadataTopicState(
                topic_name=topic,
                topic_id=request.topic_ids.get(topic, ZERO_UUID),
                partition_states=tuple(_metadata_state(entry) for entry in entries),
            )
            for topic, entries in _by_topic(request.entries)
        ),
        live_brokers=tuple(_live_broker(broker) for broker in request.live_brokers),
    )


def _metadata_state(entry: MetadataEntry) -> update_metadata_wire.UpdateMetadataPartitionState:
    state = entry.leader_and_isr
    return update_metadata_wire.UpdateMetadataPartitionState(
        partition_index=entry.topic_partition.partition,
        controller_epoch=state.controller_epoch,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        zk_version=state.zk_version,
        replicas=entry.replicas,
        offline_replicas=entry.offline_replicas,
    )


def _live_broker(broker: RegisteredBroker) -> update_metadata_wire.UpdateMetadataBroker:
    return update_metadata_wire.UpdateMetadataBroker(
        id=broker.broker_id,
        endpoints=tuple(
            update_metadata_wire.UpdateMetadataEndpoint(
                port=endpoint.port,
                host=endpoint.host,
                listener=endpoint.listener_name,
                security_protocol=SECURITY_PROTOCOLS.get(endpoint.security_protocol, 0),
            )
            for endpoint in broker.endpoints
        ),
        rack=broker.rack,
    )


def _stop_replica(request: StopReplicaControlRequest) -> Message:
    return stop_replica_wire.StopReplicaRequest(
        controller_id=request.controller_id,
        controller_epoch=request.controller_epoch,
        broker_epoch=request.broker_epoch,
        topic_states=tuple(
            stop_replica_wire.StopReplicaTopicState(
                topic_name=topic,
                partition_states=tuple(
                    stop_replica_wire.StopReplicaPartitionState(
                        partition_index=entry.topic_partition.partition,
                        leader_epoch=entry.leader_epoch,
                        delete_partition=entry.delete,
                    )
                    for entry in entries
                ),
            )
            for topic, entries in _by_topic(request.entries)
        ),
    )


def _by_topic(entries: Iterable[Entry]) -> list[tuple[str, Sequence[Entry]]]:
    def place(entry: Entry) -> TopicPartition:
        return entry.topic_partition

    ordered = sorted(entries, key=place)
    return [
        (topic, list(group))
        for topic, group in groupby(ordered, key=lambda entry: entry.topic_partition.topic)
    ]


# -- answers -----------------------------------------------------------------------------------


def _leader_and_isr_errors(
    request: LeaderAndIsrControlRequest,
    error: str,
    response: leader_and_isr_wire.LeaderAndIsrResponse,
) -> dict[TopicPartition, str]:
    names = {topic_id: topic for topic, topic_id in request.topic_ids.items()}
    answered = {
        TopicPartition(names[topic.topic_id], partition.partition_index): partition.error_code
        for topic in response.topics
        if topic.topic_id in names
        for partition in topic.partition_errors
    }
    return _errors(request.entries, error, answered)


def _stop_replica_errors(
    request: StopReplicaControlRequest, error: str, response: stop_replica_wire.StopReplicaResponse
) -> dict[TopicPartition, str]:
    answered = {
        TopicPartition(partition.topic_name, partition.partition_index): partition.error_code
        for partition in response.partition_errors
    }
    return _errors(request.entries, error, answered)


def _errors(
    entries: Iterable[LeaderAndIsrEntry] | Iterable[StopReplicaEntry],
    error: str,
    answered: dict[TopicPartition, int],
) -> dict[TopicPartition, str]:
    """Return the error of each requested partition; one that is not listed has the request's."""
    errors = {}
    for entry in entries:
        code = answered.get(entry.topic_partition)
        errors[entry.topic_partition] = error if code is None else error_name(code)
    return errors
