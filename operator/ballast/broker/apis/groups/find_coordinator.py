"""FindCoordinator (10), versions 0-3.

Behaviour:
* The coordinator of a group is the leader of the group's partition of ``__consumer_offsets``,
  which is made when the first group asks. Until there is such a leader, and while fewer brokers
  live than the topic is to have replicas: COORDINATOR_NOT_AVAILABLE, which is retried.
* Transactions are not served: a transactional id is TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
* librdkafka takes version 0 for the sign that a broker takes LZ4 (rdkafka_feature.c).

Version notes:
* v1 distinguishes groups from transactional ids, and has an error message.
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

GROUP: Final = 0
TRANSACTION: Final = 1


async def handle(
    context: BrokerContext, request: FindCoordinatorRequest, info: RequestInfo
) -> FindCoordinatorResponse:
    """Answer with the broker that coordinates a group."""
    if request.key_type == TRANSACTION:
        return _refusal(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, info)
    if request.key_type != GROUP:
        return _refusal(ErrorCode.INVALID_REQUEST, info)
    coordinator = await context.groups.topic.find_coordinator(request.key)
    if coordinator is None:
        return _refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE, info)
    return FindCoordinatorResponse(
        error_message=ErrorCode.NONE.name if info.version >= 1 else None,
        node_id=coordinator.broker_id,
        host=coordinator.endpoint.host,
        port=coordinator.endpoint.port,
    )


def _refusal(error: ErrorCode, info: RequestInfo) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        error_code=error, error_message=error.message if info.version >= 1 else None
    )
