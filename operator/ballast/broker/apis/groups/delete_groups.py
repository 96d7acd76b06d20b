"""DeleteGroups (42), versions 0-2.

Behaviour:
* A group without members goes, with its offsets; one with members is NON_EMPTY_GROUP, one that is
  not there GROUP_ID_NOT_FOUND.
"""

from ballast.broker.apis.context import Call, Parts
from ballast.protocol.messages.groups.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(parts: Parts, request: DeleteGroupsRequest, _call: Call) -> DeleteGroupsResponse:
    """Delete each group."""
    coordinator = parts.groups.coordinator
    return DeleteGroupsResponse(
        results=tuple(
            DeletableGroupResult(group_id=name, error_code=coordinator.delete_group(name))
            for name in dict.fromkeys(request.groups_names)
        )
    )
