"""Requests that the broker forwards to the controller.

Behaviour:
* AlterPartitionReassignments (45), ElectLeaders (43), ListPartitionReassignments (46) and
  ControlledShutdown (7) are forwarded as they are. CreateTopics, CreatePartitions and DeleteTopics
  have modules of their own, which use `forward`.
* Without a controller the request is refused with NOT_CONTROLLER, or with REQUEST_TIMED_OUT if the
  outcome is unknown (`ballast.net.refusals`).
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.net.refusals import refuse
from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from ballast.protocol.messages.admin.elect_leaders import ElectLeadersRequest
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from ballast.protocol.messages.control.controlled_shutdown import ControlledShutdownRequest
from ballast.protocol.schema import Message

CONTROLLED_SHUTDOWN_TIMEOUT_MS: Final = 30_000
"""The request has no timeout field. Brokers send it to the controller's own endpoint."""


async def forward(
    context: BrokerContext, request: Message, version: int, timeout_ms: int
) -> Message:
    """Return the controller's response, or the refusal if there is no controller."""
    try:
        return await context.controller.request(request, version, timeout_ms)
    except ControllerUnavailable as error:
        return refuse(request, version, error.code)


async def handle(
    context: BrokerContext,
    request: (
        AlterPartitionReassignmentsRequest | ElectLeadersRequest | ListPartitionReassignmentsRequest
    ),
    info: RequestInfo,
) -> Message:
    """Forward a request for as long as its client waits."""
    return await forward(context, request, info.version, request.timeout_ms)


async def handle_controlled_shutdown(
    context: BrokerContext, request: ControlledShutdownRequest, info: RequestInfo
) -> Message:
    """Forward the request of a broker that is stopping."""
    return await forward(context, request, info.version, CONTROLLED_SHUTDOWN_TIMEOUT_MS)
