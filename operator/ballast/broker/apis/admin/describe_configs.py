"""DescribeConfigs (32), versions 0-4.

Behaviour:
* Topic resources (2): every config that a topic may override, read from ZooKeeper at the time of
  asking. Overrides there that brokers do not go by are left out: what is in force is shown. A topic
  that does not exist is UNKNOWN_TOPIC_OR_PARTITION.
* Broker resources (4): answered by the broker itself, or by any for the empty name, which stands
  for the defaults of all brokers and lists only what is set there. Others are INVALID_REQUEST.
* A value's source is the nearest place that sets it; synonyms list all places, nearest first.
* When ZooKeeper does not answer: REQUEST_TIMED_OUT.

Version notes:
* v0 says only whether a value is a default; v1 names the source and has synonyms; v3 has types and
  documentation.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.config.config import PROPERTIES
from ballast.broker.config.dynamic_configs import (
    ConfigSource,
    ConfiguredValue,
    topic_values_in_force,
)
from ballast.broker.errors import PartitionError
from ballast.model.settings.table import TOPIC_SETTINGS
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.errors import ZnodeError

TOPIC: Final = 2
BROKER: Final = 4

ZOOKEEPER_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The version and the details of the request."""

    version: int
    """Only version 0 has ``is_default``; later ones have the source."""
    synonyms: bool
    documentation: bool


async def handle(
    context: BrokerContext, request: DescribeConfigsRequest, info: RequestInfo
) -> DescribeConfigsResponse:
    """Describe each resource."""
    results = []
    asked = _Asked(
        version=info.version,
        synonyms=request.include_synonyms,
        documentation=request.include_documentation,
    )
    for resource in request.resources:
        try:
            configs = await _describe(context, asked, resource)
        except PartitionError as error:
            results.append(_failed(resource, error.code, error.message))
        except (ZooKeeperError, TimeoutError):
            results.append(_failed(resource, ErrorCode.REQUEST_TIMED_OUT, None))
        else:
            results.append(
                DescribeConfigsResult(
                    error_code=ErrorCode.NONE,
                    resource_type=resource.resource_type,
                    resource_name=resource.resource_name,
                    configs=tuple(configs),
                )
            )
    return DescribeConfigsResponse(results=tuple(results))


async def _describe(
    context: BrokerContext, asked: _Asked, resource: DescribeConfigsResource
) -> list[DescribeConfigsResourceResult]:
    if resource.resource_type == TOPIC:
        return await _topic(context, asked, resource)
    if resource.resource_type != BROKER:
        raise PartitionError(ErrorCode.INVALID_REQUEST, "only topics and brokers have configs")
    check_broker_name(context, resource.resource_name)
    return _broker(context, asked, resource)


def check_broker_name(context: BrokerContext, name: str) -> None:
    """Raise `PartitionError` unless ``name`` is this broker's id, or empty for all brokers."""
    if name not in ("", str(context.identity.broker_id)):
        raise PartitionError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {context.identity.broker_id} or empty string, "
            f"but received {name[:100]}",
        )


def check_topic(context: BrokerContext, name: str) -> None:
    """Raise `PartitionError` unless ``name`` is a topic that exists."""
    try:
        check_topic_name(name)
    except InvalidTopicName as error:
        raise PartitionError(ErrorCode.INVALID_TOPIC_EXCEPTION, str(error)) from error
    if name not in context.metadata.topics:
        raise PartitionError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )


async def _topic(
    context: BrokerContext, asked: _Asked, resource: DescribeConfigsResource
) -> list[DescribeConfigsResourceResult]:
    topic = resource.resource_name
    check_topic(context, topic)
    async with asyncio.timeout(ZOOKEEPER_TIMEOUT_S):
        try:
            config = await context.session.use(lambda store: store.topic_config(topic))
            values = topic_values_in_force(config.values)
        except ZnodeError:
            values = {}
    return [
        _result(
            asked,
            name,
            list(context.configs.topic_values(values, name)),
            row.type,
            read_only=False,
            documentation=None,
        )
        for name, row in TOPIC_SETTINGS.items()
        if _is_wanted(resource, name)
    ]


def _broker(
    context: BrokerContext, asked: _Asked, resource: DescribeConfigsResource
) -> list[DescribeConfigsResourceResult]:
    results = []
    for name, row in PROPERTIES.items():
        if not _is_wanted(resource, name):
            continue
        sources = list(context.configs.broker_values(name))
        if not resource.resource_name:
            sources = [
                value
                for value in sources
                if value.source == ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
            ]
            if not sources:
                continue
        results.append(
            _result(
                asked,
                name,
                sources,
                row.type,
                read_only=not row.dynamic,
                documentation=row.doc,
            )
        )
    return results


def _is_wanted(resource: DescribeConfigsResource, name: str) -> bool:
    # Clients write both null and an empty list for "all".
    return not resource.configuration_keys or name in resource.configuration_keys


def _result(
    asked: _Asked,
    name: str,
    sources: Sequence[ConfiguredValue],
    config_type: int,
    *,
    read_only: bool,
    documentation: str | None,
) -> DescribeConfigsResourceResult:
    source = sources[0].source if sources else ConfigSource.DEFAULT_CONFIG
    return DescribeConfigsResourceResult(
        name=name,
        value=sources[0].in_unit if sources else None,
        read_only=read_only,
        config_source=source,
        is_default=asked.version == 0 and source == ConfigSource.DEFAULT_CONFIG,
        synonyms=_synonyms(sources) if asked.synonyms else (),
        config_type=config_type,
        documentation=documentation if asked.documentation else None,
    )


def _synonyms(sources: Iterable[ConfiguredValue]) -> tuple[DescribeConfigsSynonym, ...]:
    return tuple(
        DescribeConfigsSynonym(name=value.name, value=value.value, source=value.source)
        for value in sources
    )


def _failed(
    resource: DescribeConfigsResource, code: ErrorCode, message: str | None
) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=code,
        error_message=message or code.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
