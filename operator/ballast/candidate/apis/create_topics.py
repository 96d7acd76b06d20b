"""CreateTopics (19), versions 0 to 7: topics placed by the client or by the controller.

The answer waits until every live broker knows the new topics; those not known everywhere when the
time is over are answered with REQUEST_TIMED_OUT, although they were created.
"""

from collections.abc import Mapping
from random import Random
from uuid import UUID

from ballast.candidate.active_controller import ActiveController, DeferredResponse
from ballast.controller.errors import RequestRefused
from ballast.controller.topics.new_topics import NewTopic
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.settings.validation import InvalidTopicConfig, check_topic_configs
from ballast.model.topics import TopicAssignment
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import ZERO_UUID

PLACEMENT_BITS = 16
"""Of the random numbers that placement takes modulo the number of brokers."""

_TOPIC_SOURCE = 1
_DEFAULT_SOURCE = 5
"""Kafka's config sources: set on the topic; the default."""

_PLACED_TWICE = (
    "Both numPartitions or replicationFactor and replicasAssignments were set. "
    "Both cannot be used at the same time."
)

Outcome = TopicAssignment | RequestRefused


async def answer(
    request: CreateTopicsRequest, version: int, active: ActiveController
) -> CreateTopicsResponse | DeferredResponse:
    """Create topics, or only say whether they could be created."""
    del version
    outcomes: dict[str, Outcome] = {}
    new_topics = []
    for name, topics in _by_name(request).items():
        try:
            new_topics.append(_new_topic(topics, active.random))
        except RequestRefused as refusal:
            outcomes[name] = refusal
    outcomes |= await active.controller.create_topics(
        new_topics, validate_only=request.validate_only
    )
    created = [name for name, outcome in outcomes.items() if isinstance(outcome, TopicAssignment)]
    if request.validate_only or not created:
        return _response(request, outcomes)

    def is_over() -> bool:
        return all(active.controller.is_topic_ready(name) for name in created)

    def response() -> CreateTopicsResponse:
        late = RequestRefused("REQUEST_TIMED_OUT", ErrorCode.REQUEST_TIMED_OUT.message)
        unready = {name: late for name in created if not active.controller.is_topic_ready(name)}
        return _response(request, {**outcomes, **unready})

    return DeferredResponse(
        timeout_s=max(0, request.timeout_ms) / 1000, is_over=is_over, answer=response
    )


def topic_id_from(random: Random) -> UUID:
    """Return a random topic id; its version bits keep it from being one of Kafka's reserved ids."""
    return UUID(int=random.getrandbits(128), version=4)


def _by_name(request: CreateTopicsRequest) -> dict[str, list[CreatableTopic]]:
    topics: dict[str, list[CreatableTopic]] = {}
    for topic in request.topics:
        topics.setdefault(topic.name, []).append(topic)
    return topics


def _new_topic(topics: list[CreatableTopic], random: Random) -> NewTopic:
    """Return what the controller is asked for; raises `RequestRefused`."""
    topic = topics[0]
    if len(topics) > 1:
        raise RequestRefused("INVALID_REQUEST", "Found multiple entries for this topic.")
    if topic.assignments and (topic.num_partitions != -1 or topic.replication_factor != -1):
        raise RequestRefused("INVALID_REQUEST", _PLACED_TWICE)
    assignment = {placed.partition_index: placed.broker_ids for placed in topic.assignments}
    if len(assignment) != len(topic.assignments):
        raise RequestRefused(
            "INVALID_REPLICA_ASSIGNMENT", "A partition is assigned more than once."
        )
    return NewTopic(
        topic=topic.name,
        topic_id=topic_id_from(random),
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignment=assignment,
        config=_config(topic),
        start_index=random.getrandbits(PLACEMENT_BITS),
        shift=random.getrandbits(PLACEMENT_BITS),
    )


def _config(topic: CreatableTopic) -> dict[str, str]:
    without_value = [config.name for config in topic.configs if config.value is None]
    if without_value:
        raise RequestRefused(
            "INVALID_REQUEST",
            f"Null value not supported for topic configs : {','.join(without_value)}",
        )
    config = {config.name: config.value for config in topic.configs if config.value is not None}
    try:
        check_topic_configs(config)
    except InvalidTopicConfig as error:
        raise RequestRefused("INVALID_CONFIG", str(error)) from error
    return config


def _response(
    request: CreateTopicsRequest, outcomes: Mapping[str, Outcome]
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=tuple(
            _result(topics[0], outcomes[name], validated=request.validate_only)
            for name, topics in _by_name(request).items()
        )
    )


def _result(topic: CreatableTopic, outcome: Outcome, *, validated: bool) -> CreatableTopicResult:
    if isinstance(outcome, RequestRefused):
        return CreatableTopicResult(
            name=topic.name, error_code=ErrorCode[outcome.error], error_message=outcome.message
        )
    replicas = [assignment.replicas for assignment in outcome.partitions.values()]
    return CreatableTopicResult(
        name=topic.name,
        topic_id=ZERO_UUID if validated else outcome.topic_id or ZERO_UUID,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]) if replicas else -1,
        configs=_configs(topic),
    )


def _configs(topic: CreatableTopic) -> tuple[CreatableTopicConfigs, ...]:
    """Return all configs of the new topic: those given, else Kafka's defaults."""
    given = {config.name: config.value for config in topic.configs}
    return tuple(
        CreatableTopicConfigs(
            name=name,
            value=given.get(name, row.default),
            config_source=_TOPIC_SOURCE if name in given else _DEFAULT_SOURCE,
        )
        for name, row in TOPIC_SETTINGS.items()
    )
