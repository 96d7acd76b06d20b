"""Controller-bound requests: which APIs there are, and the way of each request to its response.

A request waits in the queue of the controller's term, is executed, and then either answered at once
or deferred until brokers have followed or its timeout has passed. It is answered exactly once.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final

from ballast.candidate.active_controller import ActiveController, CandidateApi, DeferredResponse
from ballast.candidate.apis import (
    alter_partition_reassignments,
    controlled_shutdown,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    list_partition_reassignments,
)
from ballast.controller.errors import RequestRefused, StateChangeFailed
from ballast.net.refusals import refuse
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import RequestHeader, encode_response_parts
from ballast.protocol.schema import Message, Records

log = logging.getLogger(__name__)

CANDIDATE_APIS: Mapping[ApiKey, CandidateApi] = MappingProxyType(
    {
        ApiKey.CONTROLLED_SHUTDOWN: controlled_shutdown.answer,
        ApiKey.CREATE_TOPICS: create_topics.answer,
        ApiKey.DELETE_TOPICS: delete_topics.answer,
        ApiKey.CREATE_PARTITIONS: create_partitions.answer,
        ApiKey.ELECT_LEADERS: elect_leaders.answer,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS: alter_partition_reassignments.answer,
        ApiKey.LIST_PARTITION_REASSIGNMENTS: list_partition_reassignments.answer,
    }
)
"""The APIs that the controller answers. ApiVersions is answered by the endpoint itself."""

SERVED = (ApiKey.API_VERSIONS, *CANDIDATE_APIS)

MAX_WAIT_S: Final = 120.0
"""Bound of what a client may ask to wait: brokers that pass requests on wait no longer either."""


@dataclass(slots=True, eq=False)
class Request:
    """One controller-bound request and the future of its answer."""

    api: CandidateApi
    header: RequestHeader
    message: Message
    answered: asyncio.Future[list[Records] | None]
    waiting: DeferredResponse | None = None
    timer: asyncio.TimerHandle | None = field(default=None)

    @property
    def is_over(self) -> bool:
        """Whether it is answered, or its client is gone."""
        return self.answered.done()

    def answer(self, response: Message) -> None:
        """Answer, unless that has happened or the client is gone."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if not self.answered.done():
            self.answered.set_result(encoded(self.header, response))

    def refuse(self, error: ErrorCode, message: str | None = None) -> None:
        """Answer with an error of the whole request."""
        self.answer(refuse(self.message, self.header.api_version, error, message))


def encoded(header: RequestHeader, response: Message) -> list[Records]:
    """Return the frame of a response."""
    return encode_response_parts(header.correlation_id, response, header.api_version)


class Requests:
    """Executes the requests of one term; deferred ones are checked after each event."""

    def __init__(self, active: ActiveController, max_waiting: int) -> None:
        self._active = active
        self._max_waiting = max_waiting
        self._waiting: dict[Request, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    async def carry_out(self, request: Request) -> None:
        """Pass a request to the controller, and answer or defer it.

        Exceptions from this method end the term.
        """
        if request.is_over:
            return
        try:
            outcome = await request.api(request.message, request.header.api_version, self._active)
        except RequestRefused as refusal:
            request.refuse(ErrorCode[refusal.error], refusal.message)
        except StateChangeFailed as failure:
            log.warning("request of API %d failed: %s", request.header.api_key, failure)
            request.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
        else:
            if isinstance(outcome, DeferredResponse):
                self._wait(request, outcome)
            else:
                request.answer(outcome)

    def look(self) -> None:
        """Answer deferred requests whose condition holds."""
        for request in list(self._waiting):
            waiting = request.waiting
            assert waiting is not None
            if request.is_over or waiting.is_over():
                self._answer(request, waiting)

    def refuse_all(self, error: ErrorCode) -> None:
        """Refuse all deferred requests."""
        waiting, self._waiting = self._waiting, {}
        for request in waiting:
            request.refuse(error)

    def _wait(self, request: Request, waiting: DeferredResponse) -> None:
        if waiting.is_over() or waiting.timeout_s <= 0 or len(self._waiting) >= self._max_waiting:
            request.answer(waiting.answer())
            return
        request.waiting = waiting
        self._waiting[request] = None
        timeout_s = min(waiting.timeout_s, MAX_WAIT_S)
        loop = asyncio.get_running_loop()
        request.timer = loop.call_later(timeout_s, self._answer, request, waiting)
        request.answered.add_done_callback(partial(self._forget_if_abandoned, request))

    def _forget_if_abandoned(self, request: Request, answered: asyncio.Future[object]) -> None:
        """Keep nothing of a request whose connection has ended: it made room for another."""
        if answered.cancelled():
            self._waiting.pop(request, None)
            if request.timer is not None:
                request.timer.cancel()
                request.timer = None

    def _answer(self, request: Request, waiting: DeferredResponse) -> None:
        self._waiting.pop(request, None)
        request.answer(waiting.answer())
