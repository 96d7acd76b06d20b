"""CreateTopics (19), versions 0-7, passed on to the controller.

Behaviour:
* The controller creates; this broker answers once its own metadata shows a live leader for every
  partition of what was created, so that the client can produce at once. When the client's
  timeout passes before that, the topic is REQUEST_TIMED_OUT although it exists (as in Kafka).
* Without a controller every topic is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is
  unknown.

Version notes:
* v1 validate_only (nothing to wait for), v5 returns partitions and configs, v7 topic ids.
"""

import asyncio

import msgspec

from ballast.broker.errors import ControllerUnavailable
from ballast.broker.new_partitions import with_timeouts
from ballast.broker.parts import Call, Parts
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import Message


async def handle(parts: Parts, request: CreateTopicsRequest, call: Call) -> Message:
    """Pass on, and wait for leaders."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max(request.timeout_ms, 0) / 1000
    try:
        answer = await parts.controller.request(request, call.version, request.timeout_ms)
    except ControllerUnavailable as error:
        return CreateTopicsResponse(
            topics=tuple(
                CreatableTopicResult(
                    name=topic.name, error_code=error.code, error_message=error.code.message
                )
                for topic in request.topics
            )
        )
    assert isinstance(answer, CreateTopicsResponse)
    created = {t.name: t.num_partitions for t in answer.topics if t.error_code == ErrorCode.NONE}
    if request.validate_only or not created:
        return answer
    expected = {
        topic.name: max(topic.num_partitions, len(topic.assignments), created[topic.name], 1)
        for topic in request.topics
        if topic.name in created
    }
    settled = await with_timeouts(parts.metadata, answer.topics, expected, deadline - loop.time())
    return msgspec.structs.replace(answer, topics=settled)
