"""CreatePartitions (37), versions 0-3, passed on to the controller.

Behaviour:
* The controller lets topics grow; this broker answers once its own metadata shows a live leader for
  every partition of what grew, so that the client can produce at once. When the client's timeout
  passes before that, the topic is REQUEST_TIMED_OUT although it grew (as in Kafka).
* Without a controller every topic is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is
  unknown.

Version notes:
* v1 to v3 change nothing but the encoding and what Kafka's quotas may answer.
"""

import asyncio

import msgspec

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.forwarding import forward
from ballast.broker.cluster.new_partitions import with_timeouts
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: CreatePartitionsRequest, info: RequestInfo
) -> Message:
    """Pass on, and wait for leaders."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max(request.timeout_ms, 0) / 1000
    answer = await forward(context, request, info.version, request.timeout_ms)
    assert isinstance(answer, CreatePartitionsResponse)
    grown = {result.name for result in answer.results if result.error_code == ErrorCode.NONE}
    if request.validate_only or not grown:
        return answer
    expected = {topic.name: topic.count for topic in request.topics if topic.name in grown}
    settled = await with_timeouts(
        context.metadata, answer.results, expected, deadline - loop.time()
    )
    return msgspec.structs.replace(answer, results=settled)
