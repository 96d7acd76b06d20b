"""Heartbeat (12), versions 0-4.

Behaviour:
* Restarts the member's session timeout. REBALANCE_IN_PROGRESS makes it join again.
* While groups are loading it is answered without a check: no session expires then.

Version notes:
* v3 static members.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.coordinator.requests import MemberReference
from ballast.protocol.messages.groups.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(
    context: BrokerContext, request: HeartbeatRequest, _info: RequestInfo
) -> HeartbeatResponse:
    """Record the heartbeat."""
    identity = MemberReference(
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        generation_id=request.generation_id,
    )
    return HeartbeatResponse(
        error_code=context.groups.coordinator.heartbeat(request.group_id, identity)
    )
