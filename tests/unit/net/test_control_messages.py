"""Commands to wire and answers to events."""

from uuid import UUID

import pytest

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
    LeaderAndIsrAnswered,
    StopReplicaAnswered,
    UpdateMetadataAnswered,
)
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import EPOCH_DURING_DELETE, LEADER_DURING_DELETE, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.net.control_messages import error_name, to_event, to_wire
from ballast.protocol.codec import decode, encode
from ballast.protocol.messages.control import leader_and_isr as leader_and_isr_wire
from ballast.protocol.messages.control import stop_replica as stop_replica_wire
from ballast.protocol.messages.control import update_metadata as update_metadata_wire

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
IDS = {"a": UUID(int=1, version=4), "b": UUID(int=2, version=4)}
BROKER = RegisteredBroker(
    broker_id=1,
    endpoints=(
        Endpoint(host="one", port=9092),
        Endpoint(host="one", port=9093, listener_name="TLS", security_protocol="SSL"),
    ),
    rack="r",
)
LED = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2), controller_epoch=3, zk_version=7)

LEADER_AND_ISR = LeaderAndIsrControlRequest(
    controller_id=9,
    controller_epoch=4,
    broker_epoch=77,
    entries=(
        LeaderAndIsrEntry(topic_partition=B0, leader_and_isr=LED, replicas=(1, 2), is_new=True),
        LeaderAndIsrEntry(
            topic_partition=A0,
            leader_and_isr=LED,
            replicas=(1, 2, 3),
            adding_replicas=(3,),
            removing_replicas=(2,),
        ),
    ),
    live_leaders=(BROKER,),
    topic_ids=IDS,
)
UPDATE_METADATA = UpdateMetadataControlRequest(
    controller_id=9,
    controller_epoch=4,
    broker_epoch=77,
    entries=(
        MetadataEntry(
            topic_partition=A1,
            leader_and_isr=LeaderAndIsr(
                leader=LEADER_DURING_DELETE, leader_epoch=5, isr=(1,), controller_epoch=3
            ),
            replicas=(1, 2),
            offline_replicas=(2,),
        ),
    ),
    live_brokers=(BROKER,),
    topic_ids={},
)
STOP_REPLICA = StopReplicaControlRequest(
    controller_id=9,
    controller_epoch=4,
    broker_epoch=77,
    entries=(
        StopReplicaEntry(topic_partition=A0, leader_epoch=EPOCH_DURING_DELETE, delete=True),
        StopReplicaEntry(topic_partition=B0, leader_epoch=5, delete=False),
    ),
)


def test_leader_and_isr() -> None:
    message, version = to_wire(LEADER_AND_ISR)

    assert version == 5
    wire = decode(leader_and_isr_wire.LeaderAndIsrRequest, version, encode(message, version))
    assert (wire.controller_id, wire.controller_epoch, wire.broker_epoch) == (9, 4, 77)
    assert [(topic.topic_name, topic.topic_id) for topic in wire.topic_states] == [
        ("a", IDS["a"]),
        ("b", IDS["b"]),
    ]
    moving, new = (topic.partition_states[0] for topic in wire.topic_states)
    assert (moving.partition_index, moving.leader, moving.leader_epoch) == (0, 1, 5)
    assert (moving.isr, moving.zk_version, moving.controller_epoch) == ((1, 2), 7, 3)
    assert moving.replicas == (1, 2, 3)
    assert (moving.adding_replicas, moving.removing_replicas) == ((3,), (2,))
    assert (moving.is_new, new.is_new) == (False, True)
    leader = wire.live_leaders[0]
    assert (leader.broker_id, leader.host_name, leader.port) == (1, "one", 9092)


def test_update_metadata() -> None:
    message, version = to_wire(UPDATE_METADATA)

    assert version == 7
    wire = decode(update_metadata_wire.UpdateMetadataRequest, version, encode(message, version))
    assert (wire.controller_id, wire.controller_epoch, wire.broker_epoch) == (9, 4, 77)
    assert wire.topic_states[0].topic_id == UUID(int=0)
    state = wire.topic_states[0].partition_states[0]
    assert (state.partition_index, state.leader, state.offline_replicas) == (1, -2, (2,))
    endpoints = wire.live_brokers[0].endpoints
    assert [(e.host, e.port, e.listener, e.security_protocol) for e in endpoints] == [
        ("one", 9092, "PLAINTEXT", 0),
        ("one", 9093, "TLS", 1),
    ]
    assert (wire.live_brokers[0].id, wire.live_brokers[0].rack) == (1, "r")


def test_stop_replica() -> None:
    message, version = to_wire(STOP_REPLICA)

    assert version == 3
    wire = decode(stop_replica_wire.StopReplicaRequest, version, encode(message, version))
    states = {topic.topic_name: topic.partition_states[0] for topic in wire.topic_states}
    assert (states["a"].leader_epoch, states["a"].delete_partition) == (-2, True)
    assert (states["b"].leader_epoch, states["b"].delete_partition) == (5, False)


def test_answers() -> None:
    error = leader_and_isr_wire.LeaderAndIsrPartitionError(partition_index=0, error_code=56)
    led = leader_and_isr_wire.LeaderAndIsrResponse(
        topics=(
            leader_and_isr_wire.LeaderAndIsrTopicError(
                topic_id=IDS["a"], partition_errors=(error,)
            ),
            leader_and_isr_wire.LeaderAndIsrTopicError(topic_id=UUID(int=99)),
        )
    )
    stopped = stop_replica_wire.StopReplicaResponse(
        partition_errors=(
            stop_replica_wire.StopReplicaPartitionError(
                topic_name="b", partition_index=0, error_code=74
            ),
        )
    )

    assert to_event(1, LEADER_AND_ISR, led) == LeaderAndIsrAnswered(
        broker_id=1, error="NONE", partition_errors={A0: "KAFKA_STORAGE_ERROR", B0: "NONE"}
    )
    assert to_event(1, STOP_REPLICA, stopped) == StopReplicaAnswered(
        broker_id=1,
        error="NONE",
        partition_errors={A0: "NONE", B0: "FENCED_LEADER_EPOCH"},
        deleted=frozenset({A0}),
    )
    updated = update_metadata_wire.UpdateMetadataResponse()
    assert to_event(1, UPDATE_METADATA, updated) == UpdateMetadataAnswered(
        broker_id=1, error="NONE", partitions=(A1,)
    )


@pytest.mark.parametrize("control_request", [LEADER_AND_ISR, STOP_REPLICA])
def test_a_refused_request_is_refused_for_each_partition(control_request: ControlRequest) -> None:
    response = leader_and_isr_wire.LeaderAndIsrResponse(error_code=11)
    if control_request is STOP_REPLICA:
        event = to_event(1, control_request, stop_replica_wire.StopReplicaResponse(error_code=11))
    else:
        event = to_event(1, control_request, response)

    assert isinstance(event, LeaderAndIsrAnswered | StopReplicaAnswered)
    assert event.error == "STALE_CONTROLLER_EPOCH"
    assert event.partition_errors == dict.fromkeys((A0, B0), "STALE_CONTROLLER_EPOCH")


def test_a_code_from_the_future() -> None:
    assert error_name(9999) == "UNKNOWN_SERVER_ERROR"
