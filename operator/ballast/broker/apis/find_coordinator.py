"""FindCoordinator (10), versions 0-3.

Behaviour:
* Groups are not coordinated, transactions not served: COORDINATOR_NOT_AVAILABLE, the answer of a
  Kafka broker that has no coordinator. Consumers that assign partitions by hand carry on.
* It is answered nevertheless because librdkafka takes its version 0 for the sign that a broker
  takes LZ4 (rdkafka_feature.c): without it, a producer set to lz4 compresses nothing and says so
  to nobody.

Version notes:
* v1 tells groups from transactional ids, and answers in words too.
"""

from typing import Final

from ballast.broker.parts import Call, Parts
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

REASON: Final = "this cluster does not coordinate groups: assign partitions by hand"


def handle(_parts: Parts, _request: FindCoordinatorRequest, call: Call) -> FindCoordinatorResponse:
    """Answer that there is none."""
    return FindCoordinatorResponse(
        error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE,
        error_message=REASON if call.version >= 1 else None,
    )
