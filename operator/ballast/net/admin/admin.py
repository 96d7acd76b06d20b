"""Kafka's admin API as a client: what reassignments need (`reassign.ports.ClusterAdmin`).

Works with Ballast and with Apache Kafka 2.8 and later: each request has the newest version that
both sides support.
"""

from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.load_samples import LoadSample
from ballast.model.topics import LOAD_TOPIC
from ballast.net.admin import load as admin_load
from ballast.net.admin import log_dirs as admin_log_dirs
from ballast.net.admin.cluster_connections import Address, AdminOptions, ClusterConnections
from ballast.net.admin.configs import (
    ALL_BROKERS,
    BROKER,
    DYNAMIC_BROKER_CONFIG,
    DYNAMIC_DEFAULT_BROKER_CONFIG,
    TOPIC,
    TOPIC_CONFIG,
    changes_of,
    describe_request,
    effective_values,
    set_values,
)
from ballast.net.admin.metadata_views import MetadataViews, cluster_view
from ballast.net.client.client_connection import LastResponse
from ballast.net.control_messages import error_name
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin import alter_partition_reassignments as alter_wire
from ballast.protocol.messages.admin import describe_log_dirs as log_dirs_wire
from ballast.protocol.messages.admin import elect_leaders as elect_wire
from ballast.protocol.messages.admin.describe_configs import DescribeConfigsResult
from ballast.protocol.messages.admin.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.messages.cluster import metadata as metadata_wire
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterUnavailable,
    ClusterView,
    ReplicaLogDirs,
    ReplicaSize,
    RequestError,
)

CONFIG_RESOURCES_PER_REQUEST = 200

LASTING_ERRORS = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.POLICY_VIOLATION,
        ErrorCode.SECURITY_DISABLED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""A change that is refused as a whole with one of these errors is refused for each of its
partitions: the cluster has answered, and a retry does not help.
"""

Item = TypeVar("Item")


class AdminClient:
    """Implements `reassign.ports.ClusterAdmin`, which describes each method.

    Every method may raise `ClusterUnavailable`; those about one broker, `BrokerUnavailable`.
    """

    def __init__(
        self, bootstrap_servers: Sequence[Address], options: AdminOptions | None = None
    ) -> None:
        self.connections = ClusterConnections(bootstrap_servers, options or AdminOptions())
        self._last_metadata = LastResponse()
        self._views = MetadataViews()

    async def close(self) -> None:
        """Close every connection."""
        await self.connections.close()

    async def describe_cluster(self, topics: Collection[str] | None = None) -> ClusterView:
        """Metadata (3): the given topics, or all; a topic that does not exist is left out."""
        if topics is None:
            everything = metadata_wire.MetadataRequest(topics=None, allow_auto_topic_creation=False)
            response = await self.connections.ask_metadata(everything, self._last_metadata)
            return self._views.view_of(response)
        wanted = tuple(metadata_wire.MetadataRequestTopic(name=name) for name in sorted(topics))
        return cluster_view(
            await self.connections.ask_metadata(
                metadata_wire.MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
            )
        )

    async def list_reassignments(self) -> Mapping[TopicPartition, ReplicaAssignment]:
        """ListPartitionReassignments (46): all pending reassignments."""
        response: ListPartitionReassignmentsResponse = await self.connections.ask_controller(
            ListPartitionReassignmentsRequest(topics=None), lambda answer: (answer.error_code,)
        )
        _refuse(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, partition.partition_index): ReplicaAssignment(
                replicas=partition.replicas,
                adding_replicas=partition.adding_replicas,
                removing_replicas=partition.removing_replicas,
            )
            for topic in response.topics
            for partition in topic.partitions
        }

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> Mapping[TopicPartition, RequestError]:
        """AlterPartitionReassignments (45), None cancels; returns refused partitions."""
        if not targets:
            return {}
        request = alter_wire.AlterPartitionReassignmentsRequest(
            topics=tuple(
                alter_wire.ReassignableTopic(
                    name=topic,
                    partitions=tuple(
                        alter_wire.ReassignablePartition(
                            partition_index=number,
                            replicas=targets[TopicPartition(topic, number)],
                        )
                        for number in numbers
                    ),
                )
                for topic, numbers in _by_topic(targets).items()
            )
        )
        response: alter_wire.AlterPartitionReassignmentsResponse = (
            await self.connections.ask_controller(request, lambda answer: (answer.error_code,))
        )
        if response.error_code in LASTING_ERRORS:
            return dict.fromkeys(
                targets, request_error(response.error_code, response.error_message)
            )
        _refuse(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, partition.partition_index): request_error(
                partition.error_code, partition.error_message
            )
            for topic in response.responses
            for partition in topic.partitions
            if partition.error_code != ErrorCode.NONE
        }

    async def topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """DescribeConfigs (32): the named configs that are set *on the topic*."""
        described = await self._describe_topics(topics, names)
        return {topic: set_values(result, TOPIC_CONFIG) for topic, result in described.items()}

    async def effective_topic_configs(
        self, topics: Collection[str], names: Collection[str]
    ) -> Mapping[str, Mapping[str, str]]:
        """DescribeConfigs (32): the effective values, wherever they are set."""
        described = await self._describe_topics(topics, names)
        return {topic: effective_values(result) for topic, result in described.items()}

    async def _describe_topics(
        self, topics: Collection[str], names: Collection[str]
    ) -> dict[str, DescribeConfigsResult]:
        """Request a bounded number of topics at once; missing topics are left out."""
        found: dict[str, DescribeConfigsResult] = {}
        for some in _slices(sorted(topics), CONFIG_RESOURCES_PER_REQUEST):
            response = await self.connections.ask_any(describe_request(TOPIC, some, names))
            for result in response.results:
                if result.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    _refuse(result.error_code, result.error_message)
                    found[result.resource_name] = result
        return found

    async def broker_configs(self, broker_id: int, names: Collection[str]) -> Mapping[str, str]:
        """DescribeConfigs (32): the named configs that are set dynamically on the broker."""
        request = describe_request(BROKER, [str(broker_id)], names)
        response = await self.connections.ask_broker(broker_id, request)
        for result in response.results:
            _refuse(result.error_code, result.error_message)
            return set_values(result, DYNAMIC_BROKER_CONFIG)
        raise BrokerUnavailable(f"broker {broker_id} did not describe itself")

    async def default_broker_configs(self, names: Collection[str]) -> Mapping[str, str]:
        """DescribeConfigs (32): the named configs that are set for all brokers."""
        request = describe_request(BROKER, [ALL_BROKERS], names)
        response = await self.connections.ask_any(request)
        for result in response.results:
            _refuse(result.error_code, result.error_message)
            return set_values(result, DYNAMIC_DEFAULT_BROKER_CONFIG)
        raise ClusterUnavailable("the defaults of all brokers were not described")

    async def alter_default_broker_configs(
        self, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        """IncrementalAlterConfigs (44) for all brokers: set, or delete where None."""
        response: IncrementalAlterConfigsResponse = await self.connections.ask_any(
            IncrementalAlterConfigsRequest(resources=(changes_of(BROKER, ALL_BROKERS, changes),))
        )
        return _first_error(response)

    async def alter_topic_configs(
        self, changes: Mapping[str, Mapping[str, str | None]]
    ) -> Mapping[str, RequestError]:
        """IncrementalAlterConfigs (44): set, or delete where the value is None."""
        refused: dict[str, RequestError] = {}
        for some in _slices(sorted(changes), CONFIG_RESOURCES_PER_REQUEST):
            response: IncrementalAlterConfigsResponse = await self.connections.ask_any(
                IncrementalAlterConfigsRequest(
                    resources=tuple(changes_of(TOPIC, topic, changes[topic]) for topic in some)
                )
            )
            refused |= {
                result.resource_name: request_error(result.error_code, result.error_message)
                for result in response.responses
                if result.error_code != ErrorCode.NONE
            }
        return refused

    async def alter_broker_configs(
        self, broker_id: int, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        """IncrementalAlterConfigs (44) on one broker."""
        response: IncrementalAlterConfigsResponse = await self.connections.ask_broker(
            broker_id,
            IncrementalAlterConfigsRequest(
                resources=(changes_of(BROKER, str(broker_id), changes),)
            ),
        )
        return _first_error(response)

    async def replica_sizes(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaSize]:
        """DescribeLogDirs (35) of one broker; failed directories are left out."""
        if not topics:
            return {}
        response: log_dirs_wire.DescribeLogDirsResponse = await self.connections.ask_broker(
            broker_id,
            admin_log_dirs.describe_request(topics),
        )
        return {
            TopicPartition(topic.name, partition.partition_index): ReplicaSize(
                size_bytes=partition.partition_size,
                offset_lag=partition.offset_lag,
                log_dir=log_dir.log_dir,
            )
            for log_dir in response.results
            for topic in log_dir.topics
            for partition in topic.partitions
            if not partition.is_future_key
        }

    async def replica_log_dirs(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaLogDirs]:
        """DescribeLogDirs (35) of one broker: current and future directory of replicas."""
        request = admin_log_dirs.describe_request(topics)
        return admin_log_dirs.replica_log_dirs(
            await self.connections.ask_broker(broker_id, request)
        )

    async def broker_log_dirs(self, broker_id: int) -> tuple[str, ...]:
        """DescribeLogDirs (35) of one broker: its working directories."""
        request = admin_log_dirs.describe_request({})
        return admin_log_dirs.working_log_dirs(
            await self.connections.ask_broker(broker_id, request)
        )

    async def alter_replica_log_dirs(
        self, broker_id: int, targets: Mapping[TopicPartition, str]
    ) -> Mapping[TopicPartition, RequestError]:
        """AlterReplicaLogDirs (34) of one broker; returns the refused replicas."""
        request = admin_log_dirs.alter_request(targets)
        answer = await self.connections.ask_broker(broker_id, request)
        return {
            name: request_error(code, None)
            for name, code in admin_log_dirs.alter_outcomes(answer).items()
            if code != ErrorCode.NONE
        }

    async def elect_preferred_leaders(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, RequestError]:
        """ElectLeaders (43), preferred; returns refusals but ELECTION_NOT_NEEDED."""
        if not partitions:
            return {}
        request = elect_wire.ElectLeadersRequest(
            topic_partitions=tuple(
                elect_wire.TopicPartitions(topic=topic, partitions=tuple(numbers))
                for topic, numbers in _by_topic(partitions).items()
            )
        )
        response: elect_wire.ElectLeadersResponse = await self.connections.ask_controller(
            request, _election_codes
        )
        if response.error_code in LASTING_ERRORS:
            return dict.fromkeys(partitions, request_error(response.error_code, None))
        _refuse(response.error_code, None)
        return {
            TopicPartition(topic.topic, partition.partition_id): request_error(
                partition.error_code, partition.error_message
            )
            for topic in response.replica_election_results
            for partition in topic.partition_result
            if partition.error_code not in (ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED)
        }

    async def load_samples(
        self, *, since_ms: int, max_bytes: int
    ) -> AsyncGenerator[LoadSample, None]:
        """ListOffsets (2) and Fetch (1) of ``__ballast_load``: samples that end after a time."""
        view = await self.describe_cluster([LOAD_TOPIC])
        samples = admin_load.read_samples(
            self.connections, view, since_ms=since_ms, max_bytes=max_bytes
        )
        async for sample in samples:
            yield sample


def request_error(code: int, message: str | None) -> RequestError:
    """Return a wire error as an error of the port; a missing message is that of Kafka."""
    name = error_name(code)
    return RequestError(error=name, message=message or ErrorCode[name].message)


def _first_error(response: IncrementalAlterConfigsResponse) -> RequestError | None:
    for result in response.responses:
        if result.error_code != ErrorCode.NONE:
            return request_error(result.error_code, result.error_message)
    return None


def _refuse(code: int, message: str | None) -> None:
    """Raise `ClusterUnavailable` when a request was refused as a whole."""
    if code != ErrorCode.NONE:
        error = request_error(code, message)
        raise ClusterUnavailable(f"{error.error}: {error.message}")


def _election_codes(response: elect_wire.ElectLeadersResponse) -> set[int]:
    codes = {
        partition.error_code
        for topic in response.replica_election_results
        for partition in topic.partition_result
    }
    return codes | {response.error_code}


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        topics.setdefault(topic, []).append(number)
    return topics


def _slices(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some
