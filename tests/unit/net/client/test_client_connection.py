"""The client side of one connection, by bytes."""

import asyncio
from struct import pack

import pytest

from ballast.net.client.client_connection import COPY_BELOW, ClientConnection
from ballast.net.errors import Disconnected, MalformedResponse, NetError
from tests.fakes.recording_transport import RecordingTransport


def answer(correlation_id: int, body: bytes) -> bytes:
    return pack(">ii", 4 + len(body), correlation_id) + body


def connect() -> tuple[ClientConnection, RecordingTransport]:
    connection, transport = ClientConnection(10_000_000), RecordingTransport()
    transport.bind(connection)
    return connection, transport


async def test_answers_go_to_their_waiters() -> None:
    connection, transport = connect()
    numbers = [connection.next_correlation_id() for _ in range(3)]
    waiting = [connection.send(number, b"%d" % number) for number in numbers]
    assert transport.writes == [b"1", b"2", b"3"]

    waiting[1].cancel()
    bodies = [b"a" * COPY_BELOW, b"b", b"c" * 100_000]
    transport.feed(
        b"".join(answer(number, body) for number, body in zip(numbers, bodies, strict=True))
    )

    assert bytes(await waiting[0])[4:] == bodies[0]
    assert bytes(await waiting[2])[4:] == bodies[2]
    assert connection.is_open


@pytest.mark.parametrize(
    "bytes_",
    [answer(2, b""), answer(1, b"") * 2, pack(">i", 3), pack(">i", -1), pack(">i", 2**30)],
    ids=["other id", "unasked", "short", "negative", "huge"],
)
async def test_a_peer_that_answers_nonsense_is_dropped(bytes_: bytes) -> None:
    connection, transport = connect()
    waiting = connection.send(1, b"")
    transport.feed(bytes_)

    assert transport.aborted
    assert not connection.is_open
    if isinstance(waiting.exception() if waiting.done() else None, NetError):
        with pytest.raises(MalformedResponse):
            await waiting
    with pytest.raises(MalformedResponse):
        connection.send(2, b"")


async def test_a_lost_connection_fails_all_waiters() -> None:
    connection, transport = connect()
    waiting = [connection.send(number, b"") for number in (1, 2)]
    transport.lose()

    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Disconnected, Disconnected]
