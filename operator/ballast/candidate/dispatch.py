"""The table of the APIs that a candidate serves."""

from collections.abc import Mapping
from types import MappingProxyType

from ballast.candidate.active_controller import CandidateApi
from ballast.candidate.apis import (
    alter_partition_reassignments,
    controlled_shutdown,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    list_partition_reassignments,
)
from ballast.protocol.api_keys import ApiKey

CANDIDATE_APIS: Mapping[ApiKey, CandidateApi] = MappingProxyType(
    {
        ApiKey.CONTROLLED_SHUTDOWN: CandidateApi(
            controlled_shutdown.answer, controlled_shutdown.refuse
        ),
        ApiKey.CREATE_TOPICS: CandidateApi(create_topics.answer, create_topics.refuse),
        ApiKey.DELETE_TOPICS: CandidateApi(delete_topics.answer, delete_topics.refuse),
        ApiKey.CREATE_PARTITIONS: CandidateApi(create_partitions.answer, create_partitions.refuse),
        ApiKey.ELECT_LEADERS: CandidateApi(elect_leaders.answer, elect_leaders.refuse),
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: CandidateApi(
            alter_partition_reassignments.answer, alter_partition_reassignments.refuse
        ),
        ApiKey.LIST_PARTITION_REASSIGNMENTS: CandidateApi(
            list_partition_reassignments.answer, list_partition_reassignments.refuse
        ),
    }
)
"""Controller-bound requests. ApiVersions is answered by the endpoint itself."""

SERVED = (ApiKey.API_VERSIONS, *CANDIDATE_APIS)
