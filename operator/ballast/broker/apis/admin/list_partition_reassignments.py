"""ListPartitionReassignments (46), version 0, passed on to the controller.

Behaviour:
* Without a controller the answer is NOT_CONTROLLER at the top, or REQUEST_TIMED_OUT when it did
  not answer.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: ListPartitionReassignmentsRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    try:
        return await context.controller.request(request, info.version, request.timeout_ms)
    except ControllerUnavailable as error:
        return ListPartitionReassignmentsResponse(
            error_code=error.code, error_message=error.code.message
        )
