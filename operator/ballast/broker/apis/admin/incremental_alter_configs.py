"""IncrementalAlterConfigs (44), versions 0-1.

Behaviour:
* Topic resources (2) and broker resources (4): this broker's own id, or the empty name for the
  defaults of all brokers; another id is INVALID_REQUEST (KIP-339).
* SET, DELETE, APPEND and SUBTRACT; the last two for lists only. Names and values are checked
  before anything is written: INVALID_CONFIG for topics, INVALID_REQUEST for brokers. What is
  deleted needs no known name.
* Written as a compare-and-set with the notification in one multi; this broker follows its own
  change at once, the others when they are notified.
* When the session with ZooKeeper expires meanwhile, the values are read and written again in the
  next session: every operation gives the same when it is applied twice.
* Resources are independent of one another; one that is named twice is INVALID_REQUEST. When
  ZooKeeper does not answer in time: REQUEST_TIMED_OUT, the outcome is unknown.

Version notes:
* v1 is flexible.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from ballast.broker.apis.admin.describe_configs import (
    BROKER,
    TOPIC,
    ZOOKEEPER_TIMEOUT_S,
    check_broker_name,
    check_topic,
)
from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.config.config_changes import Change, apply_to_broker, apply_to_topic
from ballast.broker.errors import PartitionError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ballast.zk.broker_store.store import BrokerStore
from ballast.zk.errors import BadVersion, NoNode, ZooKeeperError
from ballast.znodes.errors import ZnodeError

MAX_CONFLICTS: Final = 16
"""Lost compare-and-set races in a row before the request fails with REQUEST_TIMED_OUT."""


Resource = tuple[int, str, Callable[[Mapping[str, str]], list[Change]]]
"""Type, name, and the changes given the present values."""


class Outcome(NamedTuple):
    """The result of altering one resource."""

    code: ErrorCode
    message: str | None


async def handle(
    context: BrokerContext, request: IncrementalAlterConfigsRequest, _info: RequestInfo
) -> IncrementalAlterConfigsResponse:
    """Alter each resource."""
    resources = [
        (resource.resource_type, resource.resource_name, _as_asked(resource))
        for resource in request.resources
    ]
    outcomes = await alter_each(context, resources, validate_only=request.validate_only)
    return IncrementalAlterConfigsResponse(
        responses=tuple(
            AlterConfigsResourceResponse(
                error_code=outcome.code,
                error_message=outcome.message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, outcome in zip(request.resources, outcomes, strict=True)
        )
    )


def _as_asked(resource: AlterConfigsResource) -> Callable[[Mapping[str, str]], list[Change]]:
    changes = [
        Change(name=config.name, operation=config.config_operation, value=config.value)
        for config in resource.configs
    ]
    return lambda _values: changes


async def alter_each(
    context: BrokerContext, resources: Sequence[Resource], *, validate_only: bool
) -> list[Outcome]:
    """Alter resources independently of one another; return their results."""
    names = [(resource_type, name) for resource_type, name, _ in resources]
    outcomes = []
    for resource, name in zip(resources, names, strict=True):
        code: ErrorCode = ErrorCode.NONE
        message: str | None = None
        try:
            _check_once(names, name)
            async with asyncio.timeout(ZOOKEEPER_TIMEOUT_S):
                await _alter(context, resource, validate_only=validate_only)
        except PartitionError as error:
            code, message = error.code, error.message
        except NoNode:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        except ZnodeError as error:
            code, message = ErrorCode.UNKNOWN_SERVER_ERROR, str(error)
        except (ZooKeeperError, TimeoutError):
            code = ErrorCode.REQUEST_TIMED_OUT
        outcomes.append(
            Outcome(code, message or (None if code == ErrorCode.NONE else code.message))
        )
    return outcomes


def _check_once(names: list[tuple[int, str]], name: tuple[int, str]) -> None:
    if names.count(name) > 1:
        raise PartitionError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


async def _alter(context: BrokerContext, resource: Resource, *, validate_only: bool) -> None:
    resource_type, name, _ = resource
    if resource_type == TOPIC:
        check_topic(context, name)
    elif resource_type == BROKER:
        check_broker_name(context, name)
    else:
        raise PartitionError(ErrorCode.INVALID_REQUEST, "Only topics and brokers have configs.")
    alter = _alter_topic if resource_type == TOPIC else _alter_broker
    for _ in range(MAX_CONFLICTS):
        try:
            await context.session.use(
                lambda store: alter(context, store, resource, validate_only=validate_only)
            )
        except BadVersion:
            continue
        return
    raise PartitionError(ErrorCode.REQUEST_TIMED_OUT)


async def _alter_topic(
    context: BrokerContext, store: BrokerStore, resource: Resource, *, validate_only: bool
) -> None:
    _, topic, changes = resource
    current = await store.topic_config(topic)
    values = apply_to_topic(current.values, changes(current.values))
    if not validate_only and values != current.values:
        await store.write_topic_config(topic, values, current.version)
        context.config_watcher.take_topic(topic, values)


async def _alter_broker(
    context: BrokerContext, store: BrokerStore, resource: Resource, *, validate_only: bool
) -> None:
    _, name, changes = resource
    broker_id = int(name) if name else None
    current = await store.broker_config(broker_id)
    values = apply_to_broker(current.values, changes(current.values), all_brokers=not name)
    if not validate_only and values != current.values:
        await store.write_broker_config(broker_id, values, current.version)
        await context.config_watcher.reload_brokers(store)
