"""Metadata (3), versions 0-11.

Behaviour:
* Answers from this broker's metadata cache. A topic not known is created when the request allows
  it and ``auto.create.topics.enable`` does; it is LEADER_NOT_AVAILABLE until its leaders are
  known. Otherwise it is UNKNOWN_TOPIC_OR_PARTITION. A name that no topic can have is
  INVALID_TOPIC_EXCEPTION. Of Kafka's internal topics the one that is used here can be created.
* The controller named is the lowest live broker: each broker forwards to the elected candidate.
* A partition whose leader is absent or not alive is LEADER_NOT_AVAILABLE.
* A broker that has just started answers after the first UpdateMetadata: a client would give up on
  a response without brokers, or without its topic. Without a controller every topic is
  LEADER_NOT_AVAILABLE after a timeout.
* Nothing is authorised here, so the authorised operations are left unstated.

Version notes:
* v0 has no null list: an empty one asks for every topic. From v1 empty asks for none.
* v0 answers REPLICA_NOT_AVAILABLE and leaves dead replicas out, as Kafka does for old clients.
* v4 allow_auto_topic_creation; requests before it allow it.
* v5 offline replicas, v7 leader epochs, v10 topic ids (asked for by name only).
"""

from collections.abc import Coroutine, Mapping
from typing import Any, Final
from uuid import UUID

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.cluster.metadata_cache import MetadataCache, PartitionMetadata
from ballast.model.ids import NO_LEADER
from ballast.model.topics import (
    INTERNAL_TOPICS,
    OFFSETS_TOPIC,
    InvalidTopicName,
    check_topic_name,
)
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NO_TOPIC_ID: Final = UUID(int=0)


def handle(
    context: BrokerContext, request: MetadataRequest, info: RequestInfo
) -> MetadataResponse | Coroutine[Any, Any, MetadataResponse]:
    """Answer from the cache, at once unless it is empty or topics are to be created first."""
    if not context.metadata.is_filled:
        return _once_filled(context, request, info)
    return _handle(context, request, info)


async def _once_filled(
    context: BrokerContext, request: MetadataRequest, info: RequestInfo
) -> MetadataResponse:
    await context.metadata.wait_until_filled()
    answer = _handle(context, request, info)
    return answer if isinstance(answer, MetadataResponse) else await answer


def _handle(
    context: BrokerContext, request: MetadataRequest, info: RequestInfo
) -> MetadataResponse | Coroutine[Any, Any, MetadataResponse]:
    names = _names(context.metadata, request, info)
    if context.config.auto_create_topics_enable and request.allow_auto_topic_creation:
        creatable = [name for name in names if _is_creatable(context.metadata, name)]
        if creatable:
            return _create_and_answer(context, names, creatable, info)
    return _answer(context, names, info, {})


async def _create_and_answer(
    context: BrokerContext, names: list[str], creatable: list[str], info: RequestInfo
) -> MetadataResponse:
    return _answer(context, names, info, await context.auto_creation.create(creatable))


def _is_creatable(cache: MetadataCache, name: str) -> bool:
    return (
        name not in cache.topics
        and (name not in INTERNAL_TOPICS or name == OFFSETS_TOPIC)
        and _missing(cache, name) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


def _answer(
    context: BrokerContext, names: list[str], info: RequestInfo, errors: Mapping[str, int]
) -> MetadataResponse:
    cache = context.metadata
    return MetadataResponse(
        brokers=tuple(
            MetadataResponseBroker(
                node_id=broker.broker_id,
                host=broker.endpoint.host,
                port=broker.endpoint.port,
                rack=broker.rack,
            )
            for broker in cache.brokers.values()
        ),
        cluster_id=context.identity.cluster_id,
        controller_id=cache.controller_id,
        topics=tuple(_topic(cache, name, info.version, errors.get(name)) for name in names),
    )


def _names(cache: MetadataCache, request: MetadataRequest, info: RequestInfo) -> list[str]:
    if request.topics is None or (info.version == 0 and not request.topics):
        return sorted(cache.topics)
    return list(dict.fromkeys(topic.name or "" for topic in request.topics))


def _topic(
    cache: MetadataCache, name: str, version: int, error: int | None
) -> MetadataResponseTopic:
    partitions = cache.topics.get(name)
    if partitions is None:
        code = _missing(cache, name) if error is None else error
        return MetadataResponseTopic(
            error_code=code, name=name, topic_id=NO_TOPIC_ID, partitions=()
        )
    return MetadataResponseTopic(
        error_code=ErrorCode.NONE,
        name=name,
        topic_id=cache.topic_id(name) or NO_TOPIC_ID,
        is_internal=name in INTERNAL_TOPICS,
        partitions=tuple(
            _partition(cache, number, partitions[number], version) for number in sorted(partitions)
        ),
    )


def _missing(cache: MetadataCache, name: str) -> ErrorCode:
    try:
        check_topic_name(name)
    except InvalidTopicName:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if not cache.is_filled:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _partition(
    cache: MetadataCache, number: int, known: PartitionMetadata, version: int
) -> MetadataResponsePartition:
    live = cache.brokers
    offline = tuple(
        replica
        for replica in known.replicas
        if replica not in live or replica in known.offline_replicas
    )
    error, replicas, isr = ErrorCode.NONE, known.replicas, known.isr
    if version == 0:
        replicas = tuple(replica for replica in replicas if replica in live)
        isr = tuple(replica for replica in isr if replica in live)
        if len(replicas) < len(known.replicas) or len(isr) < len(known.isr):
            error = ErrorCode.REPLICA_NOT_AVAILABLE
    leader = known.leader
    if leader not in live:
        error, leader = ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER
    return MetadataResponsePartition(
        error_code=error,
        partition_index=number,
        leader_id=leader,
        leader_epoch=known.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=offline,
    )
