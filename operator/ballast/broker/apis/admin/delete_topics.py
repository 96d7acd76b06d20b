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

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.errors import ControllerUnavailable
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: DeleteTopicsRequest, info: RequestInfo
) -> Message:
    """Pass on, and answer what the controller answers."""
    if not context.config.delete_topic_enable:
        disabled = ErrorCode.TOPIC_DELETION_DISABLED
        return _all(request, info, disabled if info.version >= 3 else ErrorCode.INVALID_REQUEST)
    try:
        return await context.controller.request(request, info.version, request.timeout_ms)
    except ControllerUnavailable as error:
        return _all(request, info, error.code)


def _all(request: DeleteTopicsRequest, info: RequestInfo, code: ErrorCode) -> DeleteTopicsResponse:
    states = (
        request.topics
        if info.version >= 6
        else tuple(DeleteTopicState(name=name) for name in request.topic_names)
    )
    return DeleteTopicsResponse(
        responses=tuple(
            DeletableTopicResult(
                name=state.name,
                topic_id=state.topic_id,
                error_code=code,
                error_message=code.message,
            )
            for state in states
        )
    )
