"""DeleteTopics (20), versions 0 to 6: topics by name or, from version 6, by id (KIP-516).

The answer waits until nothing of the topics is left; what is left when the time is over is
answered with REQUEST_TIMED_OUT, and its deletion goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from ballast.candidate.active_controller import ActiveController, DeferredResponse
from ballast.controller.errors import RequestRefused
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from ballast.protocol.schema import ZERO_UUID

FIRST_VERSION_WITH_IDS = 6


@dataclass(frozen=True, slots=True)
class _Named:
    """One topic as the request names it, and as the cluster does."""

    name: str | None
    topic_id: UUID
    refusal: RequestRefused | None = None


async def answer(
    request: DeleteTopicsRequest, version: int, active: ActiveController
) -> DeleteTopicsResponse | DeferredResponse:
    """Queue topics for deletion."""
    named = [_resolved(topic, active) for topic in _named(request, version)]
    refused = await active.controller.delete_topics(
        [topic.name for topic in named if topic.name is not None and topic.refusal is None]
    )
    queued = [name for name, refusal in refused.items() if refusal is None]

    def is_over() -> bool:
        return all(active.controller.is_topic_deleted(name) for name in queued)

    def response() -> DeleteTopicsResponse:
        late = {
            name: RequestRefused("REQUEST_TIMED_OUT", ErrorCode.REQUEST_TIMED_OUT.message)
            for name in queued
            if not active.controller.is_topic_deleted(name)
        }
        return DeleteTopicsResponse(
            responses=tuple(_result(topic, {**refused, **late}) for topic in named)
        )

    if is_over():
        return response()
    return DeferredResponse(
        timeout_s=max(0, request.timeout_ms) / 1000, is_over=is_over, answer=response
    )


def _named(request: DeleteTopicsRequest, version: int) -> list[_Named]:
    if version < FIRST_VERSION_WITH_IDS:
        return [_Named(name, ZERO_UUID) for name in dict.fromkeys(request.topic_names)]
    pairs = dict.fromkeys((topic.name, topic.topic_id) for topic in request.topics)
    return [_Named(name, topic_id) for name, topic_id in pairs]


def _resolved(topic: _Named, active: ActiveController) -> _Named:
    """Return the topic with its name, or with the reason why it has none."""
    if topic.name is not None:
        if topic.topic_id == ZERO_UUID:
            return topic
        refusal = RequestRefused(
            "INVALID_REQUEST", "Topic name and topic ID can not both be specified."
        )
        return _Named(topic.name, topic.topic_id, refusal)
    name = active.controller.topic_name(topic.topic_id)
    if name is None:
        refusal = RequestRefused("UNKNOWN_TOPIC_ID", ErrorCode.UNKNOWN_TOPIC_ID.message)
        return _Named(None, topic.topic_id, refusal)
    return _Named(name, topic.topic_id)


def _result(topic: _Named, refused: Mapping[str, RequestRefused | None]) -> DeletableTopicResult:
    refusal = topic.refusal or refused.get(topic.name or "")
    if refusal is None:
        return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)
    return DeletableTopicResult(
        name=topic.name,
        topic_id=topic.topic_id,
        error_code=ErrorCode[refusal.error],
        error_message=refusal.message,
    )
