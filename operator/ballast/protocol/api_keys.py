"""The APIs that are served: key, classes and versions (the 2.8.2 column, from version 0 on).

Old clients look for exact versions in what a broker advertises (librdkafka before 2.11.1), so the
minimum is 0 everywhere. Fetch ends at 12: from 13 on it needs topic ids.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from ballast.protocol.messages.admin import (
    alter_configs,
    alter_partition_reassignments,
    alter_replica_log_dirs,
    create_acls,
    create_partitions,
    create_topics,
    delete_acls,
    delete_topics,
    describe_acls,
    describe_configs,
    describe_log_dirs,
    elect_leaders,
    incremental_alter_configs,
    list_partition_reassignments,
)
from ballast.protocol.messages.cluster import api_versions, describe_cluster, metadata
from ballast.protocol.messages.control import (
    controlled_shutdown,
    leader_and_isr,
    stop_replica,
    update_metadata,
)
from ballast.protocol.messages.groups import (
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from ballast.protocol.messages.records import (
    delete_records,
    fetch,
    init_producer_id,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from ballast.protocol.schema import Message


class ApiKey(IntEnum):
    """Kafka's API keys."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    CREATE_PARTITIONS = 37
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLUSTER = 60


class Api(NamedTuple):
    """One API: its two classes and the versions served."""

    request: type[Message]
    response: type[Message]

    @property
    def min_version(self) -> int:
        """The oldest version."""
        return self.request.VERSIONS.first

    @property
    def max_version(self) -> int:
        """The newest version."""
        return self.request.VERSIONS.last

    @property
    def flexible_from(self) -> int:
        """The first version with compact lengths and tagged fields (KIP-482)."""
        return self.request.FLEXIBLE_FROM


APIS: Mapping[ApiKey, Api] = MappingProxyType(
    {
        ApiKey.PRODUCE: Api(produce.ProduceRequest, produce.ProduceResponse),
        ApiKey.FETCH: Api(fetch.FetchRequest, fetch.FetchResponse),
        ApiKey.LIST_OFFSETS: Api(list_offsets.ListOffsetsRequest, list_offsets.ListOffsetsResponse),
        ApiKey.METADATA: Api(metadata.MetadataRequest, metadata.MetadataResponse),
        ApiKey.LEADER_AND_ISR: Api(
            leader_and_isr.LeaderAndIsrRequest, leader_and_isr.LeaderAndIsrResponse
        ),
        ApiKey.STOP_REPLICA: Api(stop_replica.StopReplicaRequest, stop_replica.StopReplicaResponse),
        ApiKey.UPDATE_METADATA: Api(
            update_metadata.UpdateMetadataRequest, update_metadata.UpdateMetadataResponse
        ),
        ApiKey.CONTROLLED_SHUTDOWN: Api(
            controlled_shutdown.ControlledShutdownRequest,
            controlled_shutdown.ControlledShutdownResponse,
        ),
        ApiKey.OFFSET_COMMIT: Api(
            offset_commit.OffsetCommitRequest, offset_commit.OffsetCommitResponse
        ),
        ApiKey.OFFSET_FETCH: Api(offset_fetch.OffsetFetchRequest, offset_fetch.OffsetFetchResponse),
        ApiKey.FIND_COORDINATOR: Api(
            find_coordinator.FindCoordinatorRequest, find_coordinator.FindCoordinatorResponse
        ),
        ApiKey.JOIN_GROUP: Api(join_group.JoinGroupRequest, join_group.JoinGroupResponse),
        ApiKey.HEARTBEAT: Api(heartbeat.HeartbeatRequest, heartbeat.HeartbeatResponse),
        ApiKey.LEAVE_GROUP: Api(leave_group.LeaveGroupRequest, leave_group.LeaveGroupResponse),
        ApiKey.SYNC_GROUP: Api(sync_group.SyncGroupRequest, sync_group.SyncGroupResponse),
        ApiKey.DESCRIBE_GROUPS: Api(
            describe_groups.DescribeGroupsRequest, describe_groups.DescribeGroupsResponse
        ),
        ApiKey.LIST_GROUPS: Api(list_groups.ListGroupsRequest, list_groups.ListGroupsResponse),
        ApiKey.API_VERSIONS: Api(api_versions.ApiVersionsRequest, api_versions.ApiVersionsResponse),
        ApiKey.CREATE_TOPICS: Api(
            create_topics.CreateTopicsRequest, create_topics.CreateTopicsResponse
        ),
        ApiKey.DELETE_TOPICS: Api(
            delete_topics.DeleteTopicsRequest, delete_topics.DeleteTopicsResponse
        ),
        ApiKey.DELETE_RECORDS: Api(
            delete_records.DeleteRecordsRequest, delete_records.DeleteRecordsResponse
        ),
        ApiKey.INIT_PRODUCER_ID: Api(
            init_producer_id.InitProducerIdRequest, init_producer_id.InitProducerIdResponse
        ),
        ApiKey.OFFSET_FOR_LEADER_EPOCH: Api(
            offset_for_leader_epoch.OffsetForLeaderEpochRequest,
            offset_for_leader_epoch.OffsetForLeaderEpochResponse,
        ),
        ApiKey.DESCRIBE_ACLS: Api(
            describe_acls.DescribeAclsRequest, describe_acls.DescribeAclsResponse
        ),
        ApiKey.CREATE_ACLS: Api(create_acls.CreateAclsRequest, create_acls.CreateAclsResponse),
        ApiKey.DELETE_ACLS: Api(delete_acls.DeleteAclsRequest, delete_acls.DeleteAclsResponse),
        ApiKey.DESCRIBE_CONFIGS: Api(
            describe_configs.DescribeConfigsRequest, describe_configs.DescribeConfigsResponse
        ),
        ApiKey.ALTER_CONFIGS: Api(
            alter_configs.AlterConfigsRequest, alter_configs.AlterConfigsResponse
        ),
        ApiKey.ALTER_REPLICA_LOG_DIRS: Api(
            alter_replica_log_dirs.AlterReplicaLogDirsRequest,
            alter_replica_log_dirs.AlterReplicaLogDirsResponse,
        ),
        ApiKey.DESCRIBE_LOG_DIRS: Api(
            describe_log_dirs.DescribeLogDirsRequest, describe_log_dirs.DescribeLogDirsResponse
        ),
        ApiKey.CREATE_PARTITIONS: Api(
            create_partitions.CreatePartitionsRequest, create_partitions.CreatePartitionsResponse
        ),
        ApiKey.DELETE_GROUPS: Api(
            delete_groups.DeleteGroupsRequest, delete_groups.DeleteGroupsResponse
        ),
        ApiKey.ELECT_LEADERS: Api(
            elect_leaders.ElectLeadersRequest, elect_leaders.ElectLeadersResponse
        ),
        ApiKey.INCREMENTAL_ALTER_CONFIGS: Api(
            incremental_alter_configs.IncrementalAlterConfigsRequest,
            incremental_alter_configs.IncrementalAlterConfigsResponse,
        ),
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: Api(
            alter_partition_reassignments.AlterPartitionReassignmentsRequest,
            alter_partition_reassignments.AlterPartitionReassignmentsResponse,
        ),
        ApiKey.LIST_PARTITION_REASSIGNMENTS: Api(
            list_partition_reassignments.ListPartitionReassignmentsRequest,
            list_partition_reassignments.ListPartitionReassignmentsResponse,
        ),
        ApiKey.OFFSET_DELETE: Api(
            offset_delete.OffsetDeleteRequest, offset_delete.OffsetDeleteResponse
        ),
        ApiKey.DESCRIBE_CLUSTER: Api(
            describe_cluster.DescribeClusterRequest, describe_cluster.DescribeClusterResponse
        ),
    }
)
"""Every API served."""
