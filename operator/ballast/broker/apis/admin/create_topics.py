"""CreateTopics (19), versions 0-7, passed on to the controller.

Behaviour:
* Numbers that are left open are those of this broker's properties, else of the controller's.
* The controller creates; this broker answers once its own metadata shows a live leader for every
  partition of what was created, so that the client can produce at once. When the client's
  timeout passes before that, the topic is REQUEST_TIMED_OUT although it exists (as in Kafka).
* Of a new topic's settings those in force are shown, a broker's own included.
* Without a controller every topic is NOT_CONTROLLER, or REQUEST_TIMED_OUT if the outcome is
  unknown.

Version notes:
* v1 validate_only (nothing to wait for), v5 returns partitions and configs, v7 topic ids.
"""

import asyncio
from collections.abc import Mapping

import msgspec

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.forwarding import forward
from ballast.broker.cluster.new_partitions import with_timeouts
from ballast.broker.config.topic_defaults import with_defaults
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicConfigs,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.schema import Message


async def handle(
    context: BrokerContext, request: CreateTopicsRequest, info: RequestInfo
) -> Message:
    """Pass on, and wait for leaders."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + max(request.timeout_ms, 0) / 1000
    topics = tuple(with_defaults(context.config, topic) for topic in request.topics)
    request = msgspec.structs.replace(request, topics=topics)
    answer = await forward(context, request, info.version, request.timeout_ms)
    assert isinstance(answer, CreateTopicsResponse)
    answer = _with_effective_configs(context, request, answer)
    created = {t.name: t.num_partitions for t in answer.topics if t.error_code == ErrorCode.NONE}
    if request.validate_only or not created:
        return answer
    expected = {
        topic.name: max(topic.num_partitions, len(topic.assignments), created[topic.name], 1)
        for topic in request.topics
        if topic.name in created
    }
    settled = await with_timeouts(context.metadata, answer.topics, expected, deadline - loop.time())
    return msgspec.structs.replace(answer, topics=settled)


def _with_effective_configs(
    context: BrokerContext, request: CreateTopicsRequest, answer: CreateTopicsResponse
) -> CreateTopicsResponse:
    """Return the answer with what is in force of each new topic's settings, and from where.

    The controller, which is no broker, knows Kafka's defaults only; this broker knows what is set
    for it and for all brokers (Kafka's ZkAdminManager.createTopics does the same).
    """
    given = {
        topic.name: {config.name: config.value or "" for config in topic.configs}
        for topic in request.topics
    }
    return msgspec.structs.replace(
        answer,
        topics=tuple(
            msgspec.structs.replace(topic, configs=_effective(context, given[topic.name]))
            if topic.configs and topic.name in given
            else topic
            for topic in answer.topics
        ),
    )


def _effective(
    context: BrokerContext, values: Mapping[str, str]
) -> tuple[CreatableTopicConfigs, ...]:
    nearest = {
        name: next(iter(context.configs.topic_values(values, name))) for name in TOPIC_SETTINGS
    }
    return tuple(
        CreatableTopicConfigs(name=name, value=setting.in_unit, config_source=setting.source)
        for name, setting in nearest.items()
    )
