"""JoinGroup (11), versions 0-7.

Behaviour:
* Answered when all members have joined again, or their rebalance timeouts have passed (see
  `ballast.coordinator.joining`). The response to the leader lists all members.
* Session timeouts outside the broker's bounds are INVALID_SESSION_TIMEOUT; a full group is
  GROUP_MAX_SIZE_REACHED; protocols that no other member has are INCONSISTENT_GROUP_PROTOCOL.

Version notes:
* v0 has one timeout for session and rebalance.
* v4 MEMBER_ID_REQUIRED: a new dynamic member is given an id and joins again with it (KIP-394).
* v5 static members (KIP-345). v7 the protocol type, and no protocol as null.
"""

from typing import Any

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.responses import DelayedResponse
from ballast.coordinator.requests import JoinRequest, JoinResult
from ballast.net.server.delayed_frame import LONG_WAIT
from ballast.protocol.messages.groups.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from ballast.protocol.schema import Message


def handle(
    context: BrokerContext, request: JoinGroupRequest, info: RequestInfo
) -> Message | DelayedResponse[Any]:
    """Have the member join."""
    # A protocol that is named twice counts once, as the first time.
    protocols = {p.name: p.metadata for p in reversed(request.protocols)}
    names = dict.fromkeys(p.name for p in request.protocols)
    is_static = request.group_instance_id is not None
    answer: DelayedResponse[JoinResult] = DelayedResponse(LONG_WAIT)
    context.groups.coordinator.join(
        JoinRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            group_instance_id=request.group_instance_id,
            requires_known_member_id=info.version >= 4 and not is_static,
            client_id=info.client_id or "",
            client_host=f"/{info.peer}",
            rebalance_timeout_ms=(
                request.session_timeout_ms if info.version == 0 else request.rebalance_timeout_ms
            ),
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=tuple((name, protocols[name]) for name in names),
        ),
        answer,
    )
    return answer.into(lambda result: _response(result, info.version))


def _response(result: JoinResult, version: int) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name if version >= 7 else result.protocol_name or "",
        leader=result.leader_id,
        member_id=result.member_id,
        members=tuple(
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                metadata=member.metadata,
            )
            for member in result.members
        ),
    )
