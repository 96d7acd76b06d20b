"""Requests on their way: answered once, whatever happens first."""

import asyncio
import inspect
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from ballast.candidate.active_controller import ActiveController, DeferredResponse
from ballast.candidate.requests import CANDIDATE_APIS, MAX_WAIT_S, SERVED, Request, Requests
from ballast.controller.errors import ControllerMoved, RequestRefused, StateChangeFailed
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import RequestHeader, decode_response
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ballast.protocol.schema import Message

DONE = ListPartitionReassignmentsResponse(error_message="done")
LATE = ListPartitionReassignmentsResponse(error_code=ErrorCode.REQUEST_TIMED_OUT)
ACTIVE = cast("ActiveController", None)


@dataclass
class Script:
    """An API whose answer a test chooses."""

    outcome: Any
    asked: int = 0
    futures: list[Any] = field(default_factory=list)

    async def answer(
        self, request: Any, version: int, active: ActiveController
    ) -> Message | DeferredResponse:
        del request, version, active
        self.asked += 1
        if isinstance(self.outcome, Exception):
            raise self.outcome
        outcome: Message | DeferredResponse = self.outcome
        return outcome

    def request(self) -> Request:
        return Request(
            self.answer,
            RequestHeader(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, 7, None),
            ListPartitionReassignmentsRequest(),
            asyncio.get_running_loop().create_future(),
        )


def answer_of(request: Request) -> ListPartitionReassignmentsResponse:
    parts = request.answered.result()
    assert parts is not None
    frame = b"".join(parts)[4:]
    correlation_id, response = decode_response(ListPartitionReassignmentsResponse, 0, frame)
    assert correlation_id == 7
    return response


@pytest.mark.parametrize(
    ("outcome", "error", "message"),
    [
        (DONE, ErrorCode.NONE, "done"),
        (RequestRefused("INVALID_REQUEST", "why"), ErrorCode.INVALID_REQUEST, "why"),
        (
            StateChangeFailed("disk"),
            ErrorCode.UNKNOWN_SERVER_ERROR,
            ErrorCode.UNKNOWN_SERVER_ERROR.message,
        ),
    ],
)
async def test_answers(outcome: Any, error: ErrorCode, message: str) -> None:
    request = Script(outcome).request()
    await Requests(ACTIVE, 10).carry_out(request)

    assert (answer_of(request).error_code, answer_of(request).error_message) == (error, message)


async def test_what_ends_the_leadership_passes_through() -> None:
    request = Script(ControllerMoved()).request()
    with pytest.raises(ControllerMoved):
        await Requests(ACTIVE, 10).carry_out(request)
    assert not request.is_over


async def test_a_request_nobody_waits_for_is_not_carried_out() -> None:
    script = Script(DONE)
    request = script.request()
    request.answered.cancel()
    await Requests(ACTIVE, 10).carry_out(request)
    assert script.asked == 0


async def test_waiting_ends_when_it_is_over() -> None:
    over = False
    script = Script(DeferredResponse(timeout_s=60, is_over=lambda: over, answer=lambda: DONE))
    requests, request = Requests(ACTIVE, 10), script.request()
    await requests.carry_out(request)
    requests.look()
    assert len(requests) == 1
    over = True
    requests.look()
    assert len(requests) == 0
    assert answer_of(request) == DONE
    assert request.timer is None
    request.refuse(ErrorCode.NOT_CONTROLLER)
    assert answer_of(request) == DONE, "answered once"


async def test_waiting_ends_with_its_time() -> None:
    script = Script(DeferredResponse(timeout_s=0.001, is_over=lambda: False, answer=lambda: LATE))
    requests, request = Requests(ACTIVE, 10), script.request()
    await requests.carry_out(request)
    await request.answered
    assert answer_of(request).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert len(requests) == 0


async def test_waiting_is_bounded_and_ends_with_the_leadership() -> None:
    script = Script(DeferredResponse(timeout_s=60, is_over=lambda: False, answer=lambda: LATE))
    requests = Requests(ACTIVE, 2)
    first, second, third = script.request(), script.request(), script.request()
    for request in (first, second, third):
        await requests.carry_out(request)
    assert third.is_over
    requests.refuse_all(ErrorCode.NOT_CONTROLLER)
    assert answer_of(first).error_code == ErrorCode.NOT_CONTROLLER
    assert second.is_over


async def test_a_client_that_left_is_forgotten() -> None:
    script = Script(DeferredResponse(timeout_s=60, is_over=lambda: False, answer=lambda: LATE))
    requests, request = Requests(ACTIVE, 2), script.request()
    await requests.carry_out(request)
    request.answered.cancel()
    requests.look()
    assert len(requests) == 0
    assert request.timer is None


async def test_a_client_that_left_makes_room_at_once_and_leaves_no_timer() -> None:
    script = Script(DeferredResponse(timeout_s=10**6, is_over=lambda: False, answer=lambda: LATE))
    requests, gone, next_one = Requests(ACTIVE, 1), script.request(), script.request()
    await requests.carry_out(gone)
    timer = gone.timer
    assert timer is not None
    assert timer.when() - asyncio.get_running_loop().time() <= MAX_WAIT_S
    gone.answered.cancel()
    await asyncio.sleep(0)

    assert timer.cancelled()
    await requests.carry_out(next_one)
    assert len(requests) == 1
    assert not next_one.is_over
    requests.refuse_all(ErrorCode.NOT_CONTROLLER)


def test_controller_bound_requests_and_api_versions() -> None:
    assert sorted(SERVED) == [7, 18, 19, 20, 37, 43, 45, 46]


def test_each_api_is_a_module_of_its_own() -> None:
    for key, api in CANDIDATE_APIS.items():
        name = f"ballast.candidate.apis.{key.name.lower()}"
        assert api.__module__ == name
        assert inspect.iscoroutinefunction(api)
