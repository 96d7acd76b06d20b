"""ControlledShutdown (7), versions 0 to 3: a broker asks to be relieved of its leaderships.

The broker asks again until nothing remains. Versions below 2 state no broker epoch.
"""

from ballast.candidate.active_controller import ActiveController
from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)


async def answer(
    request: ControlledShutdownRequest, version: int, active: ActiveController
) -> ControlledShutdownResponse:
    """Move leaders away; raises `RequestRefused`."""
    del version
    led = await active.controller.controlled_shutdown(request.broker_id, request.broker_epoch)
    return ControlledShutdownResponse(
        remaining_partitions=tuple(
            RemainingPartition(topic_name=topic, partition_index=number)
            for topic, number in sorted(led)
        )
    )
