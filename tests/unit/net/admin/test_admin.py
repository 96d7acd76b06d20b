"""The admin client against a broker that answers like Kafka."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient, request_error
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin import alter_partition_reassignments as alter_wire
from ballast.protocol.messages.admin import describe_configs as describe_wire
from ballast.protocol.messages.admin import describe_log_dirs as log_dirs_wire
from ballast.protocol.messages.admin import elect_leaders as elect_wire
from ballast.protocol.messages.admin import incremental_alter_configs as configs_wire
from ballast.protocol.messages.admin import list_partition_reassignments as list_wire
from ballast.protocol.messages.cluster import metadata as metadata_wire
from ballast.protocol.schema import Message
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterUnavailable,
    PartitionView,
    ReplicaSize,
    RequestError,
)
from tests.fakes.scripted_broker import Answer, ScriptedBroker
from tests.simulation.hosts import Host
from tests.simulation.loop import SimulatedLoop, run

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def metadata(request: metadata_wire.MetadataRequest) -> metadata_wire.MetadataResponse:
    partition = metadata_wire.MetadataResponsePartition(
        partition_index=0,
        leader_id=1,
        replica_nodes=(1, 2),
        isr_nodes=(1,),
        offline_replicas=(2,),
    )
    topics = [metadata_wire.MetadataResponseTopic(name="t", partitions=(partition,))]
    if request.topics is not None:
        named = {topic.name for topic in request.topics}
        topics = [topic for topic in topics if topic.name in named]
        topics += [
            metadata_wire.MetadataResponseTopic(name=name or "", error_code=3)
            for name in sorted(named - {"t"}, key=str)
        ]
    return metadata_wire.MetadataResponse(
        cluster_id="cluster",
        controller_id=1,
        brokers=(metadata_wire.MetadataResponseBroker(node_id=1, host="b", port=9092, rack="r"),),
        topics=tuple(topics),
    )


def ask(
    call: Callable[[AdminClient], Coroutine[Any, Any, Any]],
    key: ApiKey,
    answer: Answer | Message,
) -> tuple[Any, list[Any]]:
    """Return what a call of the client returned, and the requests of that API."""

    async def main(loop: SimulatedLoop) -> tuple[Any, list[Any]]:
        answers: dict[ApiKey, Answer] = {ApiKey.METADATA: metadata}
        answers[key] = (lambda _: answer) if isinstance(answer, Message) else answer
        broker = ScriptedBroker(answers)
        loop.start(Host("b"), broker.serve(9092))
        await asyncio.sleep(0.1)
        admin = AdminClient([("b", 9092)])
        result = await call(admin)
        await admin.close()
        return result, [message for message in broker.messages() if key == message.API_KEY]

    return run(5, main)[0]


def test_describe_cluster() -> None:
    view, requests = ask(lambda admin: admin.describe_cluster(), ApiKey.METADATA, metadata)

    assert (view.cluster_id, view.controller_id) == ("cluster", 1)
    assert [(b.broker_id, b.endpoint.host, b.endpoint.port, b.rack) for b in view.brokers] == [
        (1, "b", 9092, "r")
    ]
    assert view.partitions == {
        T0: PartitionView(topic_partition=T0, leader=1, replicas=(1, 2), isr=(1,), offline=(2,))
    }
    assert requests[0].topics is None
    assert not requests[0].allow_auto_topic_creation


def test_describe_cluster_leaves_unknown_topics_out() -> None:
    view, _ = ask(lambda admin: admin.describe_cluster({"t", "gone"}), ApiKey.METADATA, metadata)
    assert list(view.partitions) == [T0]
    view, _ = ask(lambda admin: admin.describe_cluster(()), ApiKey.METADATA, metadata)
    assert (list(view.partitions), len(view.brokers)) == ([], 1)


def test_list_reassignments() -> None:
    partition = list_wire.OngoingPartitionReassignment(
        partition_index=1, replicas=(4, 1, 2), adding_replicas=(4,), removing_replicas=(1,)
    )
    topic = list_wire.OngoingTopicReassignment(name="t", partitions=(partition,))
    pending, requests = ask(
        lambda admin: admin.list_reassignments(),
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        list_wire.ListPartitionReassignmentsResponse(topics=(topic,)),
    )

    assert pending == {
        T1: ReplicaAssignment(replicas=(4, 1, 2), adding_replicas=(4,), removing_replicas=(1,))
    }
    assert requests[0].topics is None


def test_a_refused_request_is_unavailable() -> None:
    with pytest.raises(ClusterUnavailable, match="CLUSTER_AUTHORIZATION_FAILED: no"):
        ask(
            lambda admin: admin.list_reassignments(),
            ApiKey.LIST_PARTITION_REASSIGNMENTS,
            list_wire.ListPartitionReassignmentsResponse(error_code=31, error_message="no"),
        )


def test_alter_reassignments() -> None:
    def answer(
        request: alter_wire.AlterPartitionReassignmentsRequest,
    ) -> alter_wire.AlterPartitionReassignmentsResponse:
        refused = alter_wire.ReassignablePartitionResponse(
            partition_index=1, error_code=85, error_message=None
        )
        taken = alter_wire.ReassignablePartitionResponse(partition_index=0)
        return alter_wire.AlterPartitionReassignmentsResponse(
            responses=(
                alter_wire.ReassignableTopicResponse(
                    name=request.topics[0].name, partitions=(taken, refused)
                ),
            )
        )

    refused, requests = ask(
        lambda admin: admin.alter_reassignments({T1: None, T0: (3, 2)}),
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        answer,
    )

    assert refused == {
        T1: RequestError(
            error="NO_REASSIGNMENT_IN_PROGRESS",
            message=ErrorCode.NO_REASSIGNMENT_IN_PROGRESS.message,
        )
    }
    assert [(p.partition_index, p.replicas) for p in requests[0].topics[0].partitions] == [
        (0, (3, 2)),
        (1, None),
    ]


def described(*sources: int, error: int = 0) -> describe_wire.DescribeConfigsResponse:
    configs = tuple(
        describe_wire.DescribeConfigsResourceResult(
            name=f"c{source}", value=str(source), config_source=source
        )
        for source in sources
    )
    result = describe_wire.DescribeConfigsResult(
        error_code=error, resource_name="t", configs=configs
    )
    return describe_wire.DescribeConfigsResponse(results=(result,))


def test_configs_set_on_the_thing_itself() -> None:
    configs, requests = ask(
        lambda admin: admin.topic_configs({"t"}, {"c1", "c5"}),
        ApiKey.DESCRIBE_CONFIGS,
        described(1, 2, 4, 5),
    )
    assert configs == {"t": {"c1": "1"}}
    resource = requests[0].resources[0]
    assert (resource.resource_type, resource.resource_name) == (2, "t")
    assert resource.configuration_keys == ("c1", "c5")
    configs, requests = ask(
        lambda admin: admin.broker_configs(1, {"c2"}),
        ApiKey.DESCRIBE_CONFIGS,
        described(1, 2, 3, 4),
    )
    assert configs == {"c2": "2"}
    assert requests[0].resources[0].resource_type == 4
    configs, requests = ask(
        lambda admin: admin.default_broker_configs({"c3"}),
        ApiKey.DESCRIBE_CONFIGS,
        described(1, 2, 3, 4),
    )
    assert configs == {"c3": "3"}
    (resource,) = requests[0].resources
    assert (resource.resource_type, resource.resource_name) == (4, "")


def test_configs_in_force_on_a_topic_have_any_source() -> None:
    configs, requests = ask(
        lambda admin: admin.effective_topic_configs({"t"}, {"c1"}),
        ApiKey.DESCRIBE_CONFIGS,
        described(1, 2, 3, 4, 5),
    )
    assert configs == {"t": {f"c{source}": str(source) for source in (1, 2, 3, 4, 5)}}
    (resource,) = requests[0].resources
    assert (resource.resource_type, resource.resource_name) == (2, "t")


def test_configs_of_what_does_not_exist() -> None:
    configs, _ = ask(
        lambda admin: admin.topic_configs({"t"}, {"c1"}),
        ApiKey.DESCRIBE_CONFIGS,
        described(error=3),
    )
    assert configs == {}
    with pytest.raises(BrokerUnavailable):
        ask(lambda admin: admin.broker_configs(9, {"x"}), ApiKey.DESCRIBE_CONFIGS, described(2))


def test_alter_configs() -> None:
    def answer(
        request: configs_wire.IncrementalAlterConfigsRequest,
    ) -> configs_wire.IncrementalAlterConfigsResponse:
        return configs_wire.IncrementalAlterConfigsResponse(
            responses=tuple(
                configs_wire.AlterConfigsResourceResponse(
                    resource_name=resource.resource_name,
                    error_code=40 if resource.resource_name in ("bad", "1") else 0,
                    error_message="why",
                )
                for resource in request.resources
            )
        )

    refused, requests = ask(
        lambda admin: admin.alter_topic_configs({"t": {"b": None, "a": "1"}, "bad": {}}),
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        answer,
    )
    assert refused == {"bad": RequestError(error="INVALID_CONFIG", message="why")}
    changes = requests[0].resources[1].configs
    assert [(c.name, c.config_operation, c.value) for c in changes] == [
        ("a", 0, "1"),
        ("b", 1, None),
    ]
    refusal, _ = ask(
        lambda admin: admin.alter_broker_configs(1, {"a": "x"}),
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        answer,
    )
    assert refusal == RequestError(error="INVALID_CONFIG", message="why")
    refusal, requests = ask(
        lambda admin: admin.alter_default_broker_configs({"a": "x", "b": None}),
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        answer,
    )
    assert refusal is None
    (resource,) = requests[0].resources
    assert (resource.resource_type, resource.resource_name) == (4, "")


def test_replica_sizes() -> None:
    def of(number: int, size: int, *, future: bool = False) -> Any:
        return log_dirs_wire.DescribeLogDirsPartition(
            partition_index=number, partition_size=size, offset_lag=2, is_future_key=future
        )

    topic = log_dirs_wire.DescribeLogDirsTopic(
        name="t", partitions=(of(0, 10), of(0, 5, future=True), of(1, 20))
    )
    response = log_dirs_wire.DescribeLogDirsResponse(
        results=(
            log_dirs_wire.DescribeLogDirsResult(error_code=56, log_dir="/broken"),
            log_dirs_wire.DescribeLogDirsResult(log_dir="/d", topics=(topic,)),
        )
    )
    sizes, requests = ask(
        lambda admin: admin.replica_sizes(1, {"t": {1, 0}}), ApiKey.DESCRIBE_LOG_DIRS, response
    )

    assert sizes == {
        T0: ReplicaSize(size_bytes=10, offset_lag=2, log_dir="/d"),
        T1: ReplicaSize(size_bytes=20, offset_lag=2, log_dir="/d"),
    }
    assert requests[0].topics[0].partitions == (0, 1)


def test_elect_preferred_leaders() -> None:
    results = tuple(
        elect_wire.PartitionResult(partition_id=number, error_code=code)
        for number, code in enumerate((0, 84, 80))
    )
    refused, requests = ask(
        lambda admin: admin.elect_preferred_leaders([T1, T0, TopicPartition("t", 2)]),
        ApiKey.ELECT_LEADERS,
        elect_wire.ElectLeadersResponse(
            replica_election_results=(
                elect_wire.ReplicaElectionResult(topic="t", partition_result=results),
            )
        ),
    )

    assert {tp: refusal.error for tp, refusal in refused.items()} == {
        TopicPartition("t", 2): "PREFERRED_LEADER_NOT_AVAILABLE"
    }
    assert requests[0].election_type == 0
    assert requests[0].topic_partitions[0].partitions == (0, 1, 2)


def test_changes_that_are_refused_as_a_whole_are_refused_for_each_partition() -> None:
    """A principal that may alter configs but not the cluster: it does not pass by waiting."""
    no = RequestError(
        error="CLUSTER_AUTHORIZATION_FAILED",
        message=ErrorCode.CLUSTER_AUTHORIZATION_FAILED.message,
    )
    elected, _ = ask(
        lambda admin: admin.elect_preferred_leaders([T0, T1]),
        ApiKey.ELECT_LEADERS,
        elect_wire.ElectLeadersResponse(error_code=31),
    )
    cancelled, _ = ask(
        lambda admin: admin.alter_reassignments({T0: None}),
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        alter_wire.AlterPartitionReassignmentsResponse(error_code=31),
    )
    assert (elected, cancelled) == ({T0: no, T1: no}, {T0: no})
    with pytest.raises(ClusterUnavailable, match="REQUEST_TIMED_OUT"):
        ask(
            lambda admin: admin.elect_preferred_leaders([T0]),
            ApiKey.ELECT_LEADERS,
            elect_wire.ElectLeadersResponse(error_code=7),
        )


def test_nothing_asked_for_asks_nobody() -> None:
    admin = AdminClient([("nowhere", 1)])

    async def calls() -> list[object]:
        return [
            await admin.alter_reassignments({}),
            await admin.elect_preferred_leaders([]),
            await admin.replica_sizes(1, {}),
            await admin.topic_configs((), ("x",)),
            await admin.alter_topic_configs({}),
        ]

    assert asyncio.run(calls()) == [{}] * 5


def test_an_error_always_has_a_message() -> None:
    assert request_error(41, "x") == RequestError(error="NOT_CONTROLLER", message="x")
    assert request_error(41, None).message == ErrorCode.NOT_CONTROLLER.message
