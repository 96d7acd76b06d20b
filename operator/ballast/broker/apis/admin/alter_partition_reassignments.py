"""AlterPartitionReassignments (45), version 0, passed on to the controller.

Behaviour:
* Without a controller the answer is NOT_CONTROLLER at the top, or REQUEST_TIMED_OUT if the outcome
  is unknown; asking again is safe, since the same target again changes nothing.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: AlterPartitionReassignmentsRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    try:
        return await context.controller.request(request, info.version, request.timeout_ms)
    except ControllerUnavailable as error:
        return AlterPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.code.message
        )
