"""DeleteGroups (42), versions 0-2.

Behaviour:
* A group without members goes, with its offsets; one with members is NON_EMPTY_GROUP, one that is
  not there GROUP_ID_NOT_FOUND.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.messages.groups.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(
    context: BrokerContext, request: DeleteGroupsRequest, _info: RequestInfo
) -> DeleteGroupsResponse:
    """Delete each group."""
    coordinator = context.groups.coordinator
    return DeleteGroupsResponse(
        results=tuple(
            DeletableGroupResult(group_id=name, error_code=coordinator.delete_group(name))
            for name in dict.fromkeys(request.groups_names)
        )
    )
