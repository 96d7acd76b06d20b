"""ControlledShutdown (7), versions 0-3, passed on to the controller.

Behaviour:
* Brokers ask the controller's own endpoint; a request that arrives here is passed on.
* Without a controller the answer is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is unknown.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from ballast.protocol.schema import Message

TIMEOUT_MS = 30_000
"""The request states no timeout of its own."""


async def handle(
    context: BrokerContext, request: ControlledShutdownRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    try:
        return await context.controller.request(request, info.version, TIMEOUT_MS)
    except ControllerUnavailable as error:
        return ControlledShutdownResponse(error_code=error.code)
