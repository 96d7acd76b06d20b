"""From a request's frame to its API's handler, and from the response back to bytes."""

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

from ballast.broker.apis import forwarding
from ballast.broker.apis.admin import (
    acls,
    alter_configs,
    alter_replica_log_dirs,
    create_partitions,
    create_topics,
    delete_topics,
    describe_configs,
    describe_log_dirs,
    incremental_alter_configs,
)
from ballast.broker.apis.cluster import api_versions, describe_cluster, metadata
from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.broker.apis.control import (
    leader_and_isr,
    stop_replica,
    update_metadata,
)
from ballast.broker.apis.groups import (
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from ballast.broker.apis.records import (
    delete_records,
    fetch,
    init_producer_id,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from ballast.broker.apis.responses import DelayedResponse
from ballast.net.server.requests import AwaitableResponse, ReceivedRequest, ResponseParts
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.frames import RequestHeader, encode_response_parts
from ballast.protocol.schema import Message

ApiHandler = Callable[
    [BrokerContext, Any, RequestInfo],
    Message | DelayedResponse[Any] | Coroutine[Any, Any, Message] | None,
]

HANDLERS: Final[Mapping[int, ApiHandler]] = {
    ApiKey.PRODUCE: produce.handle,
    ApiKey.FETCH: fetch.handle,
    ApiKey.LIST_OFFSETS: list_offsets.handle,
    ApiKey.METADATA: metadata.handle,
    ApiKey.LEADER_AND_ISR: leader_and_isr.handle,
    ApiKey.STOP_REPLICA: stop_replica.handle,
    ApiKey.UPDATE_METADATA: update_metadata.handle,
    ApiKey.CONTROLLED_SHUTDOWN: forwarding.handle_controlled_shutdown,
    ApiKey.OFFSET_COMMIT: offset_commit.handle,
    ApiKey.OFFSET_FETCH: offset_fetch.handle,
    ApiKey.FIND_COORDINATOR: find_coordinator.handle,
    ApiKey.JOIN_GROUP: join_group.handle,
    ApiKey.HEARTBEAT: heartbeat.handle,
    ApiKey.LEAVE_GROUP: leave_group.handle,
    ApiKey.SYNC_GROUP: sync_group.handle,
    ApiKey.DESCRIBE_GROUPS: describe_groups.handle,
    ApiKey.LIST_GROUPS: list_groups.handle,
    ApiKey.API_VERSIONS: api_versions.handle,
    ApiKey.CREATE_TOPICS: create_topics.handle,
    ApiKey.DELETE_TOPICS: delete_topics.handle,
    ApiKey.DELETE_RECORDS: delete_records.handle,
    ApiKey.INIT_PRODUCER_ID: init_producer_id.handle,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: offset_for_leader_epoch.handle,
    ApiKey.DESCRIBE_ACLS: acls.describe,
    ApiKey.CREATE_ACLS: acls.create,
    ApiKey.DELETE_ACLS: acls.delete,
    ApiKey.DESCRIBE_CONFIGS: describe_configs.handle,
    ApiKey.ALTER_CONFIGS: alter_configs.handle,
    ApiKey.ALTER_REPLICA_LOG_DIRS: alter_replica_log_dirs.handle,
    ApiKey.DESCRIBE_LOG_DIRS: describe_log_dirs.handle,
    ApiKey.CREATE_PARTITIONS: create_partitions.handle,
    ApiKey.DELETE_GROUPS: delete_groups.handle,
    ApiKey.ELECT_LEADERS: forwarding.handle,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: incremental_alter_configs.handle,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: forwarding.handle,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: forwarding.handle,
    ApiKey.OFFSET_DELETE: offset_delete.handle,
    ApiKey.DESCRIBE_CLUSTER: describe_cluster.handle,
}


_REQUESTS: Final[Mapping[int, type[Message]]] = {key: api.request for key, api in APIS.items()}

_API_VERSIONS: Final = int(ApiKey.API_VERSIONS)
_API_VERSIONS_NEWEST: Final = APIS[ApiKey.API_VERSIONS].max_version

FROM_CONTROLLER: Final = frozenset(
    {ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA}
)
"""Requests of the controller, with the broker epoch that they are meant for."""

WITH_TRAILING_BYTES: Final = frozenset({ApiKey.METADATA})
"""Requests that may be followed by further bytes: librdkafka (up to at least 2.16) requests all
topics with three bytes too many, and Kafka's brokers ignore what follows.
"""


class Dispatcher:
    """Answers requests of the server; a malformed request raises `ProtocolError`."""

    def __init__(self, context: BrokerContext) -> None:
        self._context = context
        self._times = context.metrics.request_times
        self._clock = context.replicas.clock

    def __call__(self, received: ReceivedRequest) -> ResponseParts | AwaitableResponse | None:
        """Decode, handle and encode one request (`ballast.net.server.requests.Handler`)."""
        header = received.header
        key = header.api_key
        if key == _API_VERSIONS and header.api_version > _API_VERSIONS_NEWEST:
            # The one API that is answered in a version that is not known (KIP-511).
            return encode_response_parts(
                header.correlation_id, api_versions.unsupported_version(), 0
            )
        request = decode(
            _REQUESTS[key],
            header.api_version,
            received.body,
            allow_trailing=key in WITH_TRAILING_BYTES,
        )
        info = RequestInfo(
            header.api_version, header.client_id, received.peer_host, received.connection_id
        )
        if key in FROM_CONTROLLER and not self._context.identity.registered_once.is_set():
            return self._later(self._once_registered(key, request, info), key, header)
        answer = HANDLERS[key](self._context, request, info)
        if answer is None:
            return None
        if isinstance(answer, DelayedResponse):
            later = answer.framed(header.correlation_id, header.api_version)
            later.add_done_callback(partial(self._answered, key, self._clock()))
            return later
        if isinstance(answer, Message):
            self._times.observe(key, 0.0)
            return encode_response_parts(header.correlation_id, answer, header.api_version)
        return self._later(answer, key, header)

    async def _once_registered(self, key: int, request: Any, info: RequestInfo) -> Message:
        """Handle a controller's request that arrives before the broker epoch is known (KIP-380).

        It may be meant for an earlier process; the epoch decides. Refusing it now would lose a
        request that is meant for this process, because the controller does not repeat what was
        answered.
        """
        await self._context.identity.registered_once.wait()
        answer = HANDLERS[key](self._context, request, info)
        if isinstance(answer, Message):
            return answer
        assert isinstance(answer, Coroutine), "every request of the controller has a response"
        return await answer

    def _answered(self, key: int, began: float, _: object) -> None:
        self._times.observe(key, self._clock() - began)

    async def _later(
        self, answer: Coroutine[Any, Any, Message], key: int, header: RequestHeader
    ) -> ResponseParts | None:
        began = self._clock()
        response = await answer
        self._answered(key, began, None)
        return encode_response_parts(header.correlation_id, response, header.api_version)
