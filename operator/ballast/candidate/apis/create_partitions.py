"""CreatePartitions (37), versions 0 to 3: new partitions placed by the client or the controller.

The answer waits until every live broker knows the new partitions; topics not known everywhere when
the time is over are answered with REQUEST_TIMED_OUT, although they grew.
"""

from collections import Counter
from collections.abc import Mapping

from ballast.candidate.active_controller import ActiveController, DeferredResponse
from ballast.controller.errors import RequestRefused
from ballast.controller.topics.topic_growth import TopicGrowth
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)

_NAMED_TWICE = RequestRefused("INVALID_REQUEST", "Duplicate topic in request.")
_LATE = RequestRefused("REQUEST_TIMED_OUT", ErrorCode.REQUEST_TIMED_OUT.message)


async def answer(
    request: CreatePartitionsRequest, version: int, active: ActiveController
) -> CreatePartitionsResponse | DeferredResponse:
    """Let topics grow, or only say whether they could."""
    del version
    times_named = Counter(topic.name for topic in request.topics)
    outcomes: dict[str, RequestRefused | None] = {
        name: _NAMED_TWICE for name, times in times_named.items() if times > 1
    }
    growths = [_growth(topic) for topic in request.topics if times_named[topic.name] == 1]
    outcomes |= await active.controller.create_partitions(
        growths, validate_only=request.validate_only
    )
    grown = [name for name, refusal in outcomes.items() if refusal is None]
    if request.validate_only or not grown:
        return _response(request, outcomes)

    def is_over() -> bool:
        return all(active.controller.is_topic_ready(name) for name in grown)

    def response() -> CreatePartitionsResponse:
        unready = {name: _LATE for name in grown if not active.controller.is_topic_ready(name)}
        return _response(request, {**outcomes, **unready})

    return DeferredResponse(
        timeout_s=max(0, request.timeout_ms) / 1000, is_over=is_over, answer=response
    )


def _growth(topic: CreatePartitionsTopic) -> TopicGrowth:
    assignments = None
    if topic.assignments is not None:
        assignments = tuple(placed.broker_ids for placed in topic.assignments)
    return TopicGrowth(topic=topic.name, count=topic.count, assignments=assignments)


def _response(
    request: CreatePartitionsRequest, outcomes: Mapping[str, RequestRefused | None]
) -> CreatePartitionsResponse:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreatePartitionsResponse(results=tuple(_result(name, outcomes[name]) for name in names))


def _result(name: str, refusal: RequestRefused | None) -> CreatePartitionsTopicResult:
    if refusal is None:
        return CreatePartitionsTopicResult(name=name)
    return CreatePartitionsTopicResult(
        name=name, error_code=ErrorCode[refusal.error], error_message=refusal.message
    )
