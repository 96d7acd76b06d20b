"""IncrementalAlterConfigs (44), versions 0-1.

Behaviour:
* Topic resources (2) and broker resources (4): this broker's own id, or the empty name for the
  defaults of all brokers; another id is INVALID_REQUEST (KIP-339).
* SET, DELETE, APPEND and SUBTRACT; the last two for lists only. Names and values are checked
  before anything is written: INVALID_CONFIG for topics, INVALID_REQUEST for brokers. What is
  deleted needs no known name.
* Written as a compare-and-set with the notification in one multi; this broker follows its own
  change at once, the others when they are notified.
* Resources are independent of one another; one that is named twice is INVALID_REQUEST. When
  ZooKeeper does not answer: REQUEST_TIMED_OUT, the outcome is unknown.

Version notes:
* v1 is flexible.
"""

import asyncio
from typing import Final

from ballast.broker.apis.describe_configs import (
    BROKER,
    TOPIC,
    ZOOKEEPER_TIMEOUT_S,
    check_broker_name,
    check_topic,
)
from ballast.broker.config_changes import Change, apply_to_broker, apply_to_topic
from ballast.broker.errors import PartitionError
from ballast.broker.parts import Call, Parts
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ballast.zk.errors import BadVersion, NoNode, ZooKeeperError
from ballast.znodes.errors import ZnodeError

MAX_CONFLICTS: Final = 16
"""Lost races in a row before the client is told to try again."""


async def handle(
    parts: Parts, request: IncrementalAlterConfigsRequest, _call: Call
) -> IncrementalAlterConfigsResponse:
    """Alter each resource."""
    names = [(resource.resource_type, resource.resource_name) for resource in request.resources]
    responses = []
    for resource, name in zip(request.resources, names, strict=True):
        code: ErrorCode = ErrorCode.NONE
        message: str | None = None
        try:
            _check_once(names, name)
            async with asyncio.timeout(ZOOKEEPER_TIMEOUT_S):
                await _alter(parts, resource, validate_only=request.validate_only)
        except PartitionError as error:
            code, message = error.code, error.message
        except NoNode:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        except ZnodeError as error:
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, str(error)
        except (ZooKeeperError, TimeoutError):
            code = ErrorCode.REQUEST_TIMED_OUT
        responses.append(
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message or (None if code == ErrorCode.NONE else code.message),
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
        )
    return IncrementalAlterConfigsResponse(responses=tuple(responses))


def _check_once(names: list[tuple[int, str]], name: tuple[int, str]) -> None:
    if names.count(name) > 1:
        raise PartitionError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


async def _alter(parts: Parts, resource: AlterConfigsResource, *, validate_only: bool) -> None:
    changes = [
        Change(name=config.name, operation=config.config_operation, value=config.value)
        for config in resource.configs
    ]
    name = resource.resource_name
    if resource.resource_type == TOPIC:
        check_topic(parts, name)
    elif resource.resource_type == BROKER:
        check_broker_name(parts, name)
    else:
        raise PartitionError(ErrorCode.INVALID_REQUEST, "only topics and brokers have configs")
    for _ in range(MAX_CONFLICTS):
        try:
            if resource.resource_type == TOPIC:
                await _alter_topic(parts, name, changes, validate_only=validate_only)
            else:
                await _alter_broker(parts, name, changes, validate_only=validate_only)
        except BadVersion:
            continue
        return
    raise PartitionError(ErrorCode.REQUEST_TIMED_OUT)


async def _alter_topic(
    parts: Parts, topic: str, changes: list[Change], *, validate_only: bool
) -> None:
    store = await parts.session.wait()
    current = await store.topic_config(topic)
    values = apply_to_topic(current.values, changes)
    if not validate_only and values != current.values:
        await store.write_topic_config(topic, values, current.version)
        parts.config_watcher.take_topic(topic, values)


async def _alter_broker(
    parts: Parts, name: str, changes: list[Change], *, validate_only: bool
) -> None:
    store = await parts.session.wait()
    broker_id = int(name) if name else None
    current = await store.broker_config(broker_id)
    values = apply_to_broker(current.values, changes)
    if not validate_only and values != current.values:
        await store.write_broker_config(broker_id, values, current.version)
        await parts.config_watcher.reload_brokers(store)
