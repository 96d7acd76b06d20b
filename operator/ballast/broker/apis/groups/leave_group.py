"""LeaveGroup (13), versions 0-4.

Behaviour:
* Members go at once, and the others share their work; unknown ones are UNKNOWN_MEMBER_ID.

Version notes:
* v0-2 name one member, whose error is that of the answer.
* v3 names many, also by instance id alone, and answers for each (KIP-345).
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.coordinator.requests import MemberReference
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)


def handle(
    context: BrokerContext, request: LeaveGroupRequest, info: RequestInfo
) -> LeaveGroupResponse:
    """Put the members out."""
    is_single = info.version < 3
    leaving = (
        [MemberReference(member_id=request.member_id)]
        if is_single
        else [
            MemberReference(member_id=m.member_id, group_instance_id=m.group_instance_id)
            for m in request.members
        ]
    )
    error, outcomes = context.groups.coordinator.leave(request.group_id, leaving)
    if is_single:
        return LeaveGroupResponse(error_code=error or outcomes[0])
    if error is not ErrorCode.NONE:
        return LeaveGroupResponse(error_code=error)
    return LeaveGroupResponse(
        members=tuple(
            MemberResponse(
                member_id=identity.member_id,
                group_instance_id=identity.group_instance_id,
                error_code=outcome,
            )
            for identity, outcome in zip(leaving, outcomes, strict=True)
        )
    )
