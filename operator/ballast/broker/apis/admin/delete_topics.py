"""DeleteTopics (20), versions 0-6, passed on to the controller.

Behaviour:
* Answered when the controller has taken note of the deletion; replicas go after that.
* ``delete.topic.enable=false`` here refuses with TOPIC_DELETION_DISABLED (INVALID_REQUEST before
  v3), as Kafka does.
* Without a controller every topic is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is
  unknown.

Version notes:
* up to v5 topics are given by name, from v6 by name or id.
"""

from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.forwarding import forward
from ballast.net.refusals import refuse
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.delete_topics import DeleteTopicsRequest
from ballast.protocol.schema import Message

FIRST_VERSION_WITH_DISABLED: Final = 3
"""The first version in which TOPIC_DELETION_DISABLED is defined."""


async def handle(
    context: BrokerContext, request: DeleteTopicsRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    if not context.config.delete_topic_enable:
        has_own_error = info.version >= FIRST_VERSION_WITH_DISABLED
        error = ErrorCode.TOPIC_DELETION_DISABLED if has_own_error else ErrorCode.INVALID_REQUEST
        return refuse(request, info.version, error)
    return await forward(context, request, info.version, request.timeout_ms)
