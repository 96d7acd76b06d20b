"""ElectLeaders (43), versions 0-2, passed on to the controller.

Behaviour:
* Without a controller the answer is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is
  unknown: at the top from v1 on, for each partition named in v0, which has no other place.

Version notes:
* v0 elects preferred leaders only; v1 has the election type.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: ElectLeadersRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    try:
        return await context.controller.request(request, info.version, request.timeout_ms)
    except ControllerUnavailable as error:
        return _all(request, info, error.code)


def _all(request: ElectLeadersRequest, info: RequestInfo, code: ErrorCode) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=code if info.version >= 1 else ErrorCode.NONE,
        replica_election_results=tuple(
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=tuple(
                    PartitionResult(
                        partition_id=partition, error_code=code, error_message=code.message
                    )
                    for partition in topic.partitions
                ),
            )
            for topic in request.topic_partitions or ()
        ),
    )
