"""When a connection has to be closed, second by second."""

import asyncio

import pytest

from ballast.net.server.limits import ServerLimits
from ballast.net.server.liveness import EARLY_S, Liveness
from ballast.net.server.requests import ReceivedRequest, ResponseParts
from tests.unit.net.server.test_connection import Owner, request, response, simulated

LIMITS = ServerLimits(
    connections_max_idle_s=600,
    incomplete_frame_timeout_s=30,
    min_receive_rate=1000,
    write_stall_timeout_s=60,
    quiet_period_s=15,
)


def overdue(liveness: Liveness, now: float, *, pending: int = 0, unsent: int = 0) -> str | None:
    return liveness.overdue(now, pending=pending, unsent=unsent)


def test_idle_is_from_which_nothing_has_come() -> None:
    liveness = Liveness(LIMITS, 0)
    assert overdue(liveness, 599) is None
    assert overdue(liveness, 600) == "idle"
    liveness.received(700)
    liveness.read(710, is_frame_incomplete=False, is_new_frame=True)
    assert overdue(liveness, 1299) is None
    assert overdue(liveness, 1300) == "idle"


def test_half_a_request_that_is_not_waited_for_is_idle_too() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.received(10)
    liveness.read(10, is_frame_incomplete=True, is_new_frame=False)
    liveness.held(10)
    assert overdue(liveness, 609, pending=5) is None
    assert overdue(liveness, 610, pending=5) == "idle"


def test_what_is_read_as_soon_as_the_server_reads_again_may_be_old() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.received(10)
    liveness.held(20)
    liveness.resumed(300)
    liveness.received(300.5)
    assert overdue(liveness, 619) is None
    assert overdue(liveness, 620) == "idle"
    liveness.received(301)
    assert overdue(liveness, 900) is None
    assert overdue(liveness, 901) == "idle"


def test_what_comes_later_than_that_is_new() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.held(10)
    liveness.resumed(11)
    liveness.received(590)
    assert overdue(liveness, 1189) is None
    assert overdue(liveness, 1190) == "idle"


def test_one_that_has_read_a_large_answer_is_not_idle_because_its_next_request_is_there() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.write_paused(10)
    liveness.held(10)
    liveness.write_resumed(1000)
    liveness.resumed(1000)
    liveness.received(1000)
    assert overdue(liveness, 1599) is None
    assert overdue(liveness, 1600) == "idle"


def test_one_that_reads_a_large_answer_slowly_is_not_idle() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.write_paused(10)
    for now in range(50, 2000, 50):
        assert overdue(liveness, now, unsent=10_000 - now) is None
    liveness.write_resumed(2000)
    assert overdue(liveness, 2599) is None
    assert overdue(liveness, 2600) == "idle"


def test_an_incomplete_request_has_its_time_and_that_of_its_bytes() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.read(10, is_frame_incomplete=True, is_new_frame=False)
    liveness.read(30, is_frame_incomplete=True, is_new_frame=False)
    assert overdue(liveness, 39.9) is None
    assert overdue(liveness, 40) == "a request stayed incomplete"
    assert overdue(liveness, 40, pending=5000) is None
    assert overdue(liveness, 45, pending=5000) == "a request stayed incomplete"
    liveness.read(45, is_frame_incomplete=True, is_new_frame=True)
    assert overdue(liveness, 74) is None
    liveness.held(10)
    assert overdue(liveness, 500) is None
    liveness.read(500, is_frame_incomplete=True, is_new_frame=False)
    assert overdue(liveness, 529) is None
    assert overdue(liveness, 530) == "a request stayed incomplete"


def test_a_reader_must_take_something() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.write_paused(100)
    assert overdue(liveness, 110, unsent=500) is None
    assert overdue(liveness, 169, unsent=500) is None
    assert overdue(liveness, 169, unsent=499) is None
    assert overdue(liveness, 228, unsent=499) is None
    assert overdue(liveness, 229, unsent=499) == "the client does not read its responses"
    liveness.write_resumed(229)
    assert overdue(liveness, 229, unsent=499) is None


def test_it_is_asked_as_often_as_the_shortest_limit() -> None:
    assert Liveness(LIMITS, 0).next_look_s(0) == 15
    assert Liveness(ServerLimits(connections_max_idle_s=1), 0).next_look_s(0) == 1


def test_it_is_asked_when_the_idle_time_is_over_and_not_at_every_turn_after_that() -> None:
    liveness = Liveness(LIMITS, 0)
    liveness.received(2)
    assert liveness.next_look_s(590) == pytest.approx(12 + EARLY_S)
    liveness.write_paused(600)
    assert liveness.next_look_s(603) == 15


async def _idle_with_requests_under_way(tasks: asyncio.TaskGroup) -> None:
    futures: list[asyncio.Future[ResponseParts | None]] = []

    def handler(_: ReceivedRequest) -> asyncio.Future[ResponseParts | None]:
        futures.append(asyncio.get_running_loop().create_future())
        return futures[-1]

    limits = ServerLimits(connections_max_idle_s=10, quiet_period_s=1, max_in_flight=2)
    transport = Owner(handler, tasks, limits).connect()
    transport.feed(request(1))
    await asyncio.sleep(9)
    transport.feed(request(2) + request(3))
    await asyncio.sleep(5)
    # That an answer leaves, and with it a request that had to wait begins, is nothing that came.
    futures[0].set_result(response(1))
    await asyncio.sleep(4.5)
    assert not transport.aborted
    await asyncio.sleep(1)
    assert transport.aborted
    transport.lose()
    assert len(futures) == 3
    assert all(future.cancelled() for future in futures[1:])


test_one_that_is_silent_is_idle_whatever_it_waits_for = simulated(_idle_with_requests_under_way)
