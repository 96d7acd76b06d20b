import asyncio
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from ballast.net.server.limits import ServerLimits
from ballast.net.server.peer_state import TCP_CLOSE, TCP_CLOSE_WAIT, has_ended
from ballast.net.server.requests import ResponseParts
from tests.fakes.recording_transport import FakeSocket, RecordingTransport
from tests.unit.net.server.test_connection import Owner, request, simulated

TCP_ESTABLISHED = 1
LINGER_0 = struct.pack("ii", 1, 0)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection over loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        yield near, far


def reset(end: socket.socket) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_0)
    end.close()


def test_a_live_peer_has_not_ended(pair: tuple[socket.socket, socket.socket]) -> None:
    assert not has_ended(pair[1])
    pair[0].send(b"unread")
    assert not has_ended(pair[1])


@pytest.mark.parametrize("end", [socket.socket.close, reset], ids=["FIN", "RST"])
def test_a_peer_that_has_closed_is_known_though_nothing_is_read(
    pair: tuple[socket.socket, socket.socket], end: Callable[[socket.socket], None]
) -> None:
    near, far = pair
    near.send(b"unread")
    end(near)
    assert has_ended(far)


def test_nothing_is_known_without_a_socket() -> None:
    assert not has_ended(None)


def test_nothing_is_known_of_what_is_no_tcp_connection() -> None:
    near, far = socket.socketpair()
    with near, far:
        near.close()
        assert not has_ended(far)


@pytest.mark.parametrize(
    ("state", "is_closed"),
    [(TCP_ESTABLISHED, False), (TCP_CLOSE, True), (TCP_CLOSE_WAIT, True), (None, False)],
)
def test_the_kernel_tells_of_a_client_that_has_closed_while_it_is_not_read(
    state: int | None, is_closed: bool
) -> None:
    async def scenario(tasks: asyncio.TaskGroup) -> None:
        forever: asyncio.Future[ResponseParts | None] = asyncio.get_running_loop().create_future()
        owner = Owner(lambda _: forever, tasks, ServerLimits(max_in_flight=1))
        kernel = FakeSocket()
        transport = owner.connect(RecordingTransport(kernel=kernel))
        reading = owner.connect(RecordingTransport(kernel=kernel))
        assert kernel.options[socket.SOL_SOCKET, socket.SO_KEEPALIVE] == 1
        transport.feed(request(1))
        kernel.tcp_state = state
        await asyncio.sleep(owner.limits.quiet_period_s + 1)
        assert transport.aborted == is_closed
        assert not reading.aborted, "its end comes with what it sends"
        assert owner.counters.timed_out == 0

    simulated(scenario)()
