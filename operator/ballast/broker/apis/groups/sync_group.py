"""SyncGroup (14), versions 0-5.

Behaviour:
* Answered with the member's assignment, once the leader has brought it and every in-sync replica
  of the group's partition has it.
* While groups are loading REBALANCE_IN_PROGRESS: the rebalance under way is lost.

Version notes:
* v3 static members. v5 protocol type and name must be given and be the group's, else
  INCONSISTENT_GROUP_PROTOCOL; the answer names them (KIP-559).
"""

from typing import Any

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.coordinator.requests import MemberReference, SyncRequest, SyncResult
from ballast.net.server.delayed_frame import LONG_WAIT
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.sync_group import SyncGroupRequest, SyncGroupResponse
from ballast.protocol.schema import Message


def handle(
    context: BrokerContext, request: SyncGroupRequest, info: RequestInfo
) -> Message | DelayedResponse[Any]:
    """Have the member synced."""
    if info.version >= 5 and None in (request.protocol_type, request.protocol_name):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    answer: DelayedResponse[SyncResult] = DelayedResponse(LONG_WAIT)
    context.groups.coordinator.sync(
        SyncRequest(
            group_id=request.group_id,
            member=MemberReference(
                member_id=request.member_id,
                group_instance_id=request.group_instance_id,
                generation_id=request.generation_id,
            ),
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignments={a.member_id: a.assignment for a in request.assignments},
        ),
        answer,
    )
    return answer.into(_response)


def _response(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.error,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )
