"""ListGroups (16), versions 0-4.

Behaviour:
* The groups that this broker coordinates; COORDINATOR_LOAD_IN_PROGRESS beside them while those of
  some partition are not known yet.

Version notes:
* v4 requests groups in certain states, and returns the states (KIP-518).
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)


def handle(
    context: BrokerContext, request: ListGroupsRequest, _info: RequestInfo
) -> ListGroupsResponse:
    coordinator = context.groups.coordinator
    is_loading = coordinator.is_loading
    return ListGroupsResponse(
        error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if is_loading else ErrorCode.NONE,
        groups=tuple(
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type or "",
                group_state=group.state,
            )
            for group in coordinator.groups
            if not request.states_filter or group.state in request.states_filter
        ),
    )
