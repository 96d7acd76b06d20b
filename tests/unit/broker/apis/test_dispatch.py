"""Requests as bytes: versions, malformed and hostile ones, and what the broker survives."""

import struct
from collections.abc import Coroutine

import pytest

from ballast.broker.apis.cluster.api_versions import SERVED_KEYS
from ballast.broker.apis.dispatch import HANDLERS, Dispatcher
from ballast.net.server.requests import ReceivedRequest
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import encode
from ballast.protocol.errors import DecodeError, ProtocolError
from ballast.protocol.frames import RequestHeader, decode_response
from ballast.protocol.messages.cluster.api_versions import ApiVersionsResponse
from ballast.protocol.messages.cluster.metadata import MetadataRequest
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def received(key: int, version: int, body: bytes) -> ReceivedRequest:
    return ReceivedRequest(
        RequestHeader(key, version, 7, "test"), memoryview(bytearray(body)), "peer", 1
    )


def test_every_key_has_a_handler_and_is_advertised() -> None:
    assert set(HANDLERS) == set(APIS) == set(SERVED_KEYS)


@pytest.mark.parametrize("version", [4, 99, 32767])
def test_api_versions_of_any_version_is_answered_in_version_0(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        parts = Dispatcher(cluster.brokers[1].context)(received(18, version, b"whatever"))
        assert isinstance(parts, list)
        frame = b"".join(parts)[4:]
        correlation, answer = decode_response(ApiVersionsResponse, 0, frame)
        assert (correlation, answer.error_code) == (7, 35)
        assert [(k.api_key, k.min_version, k.max_version) for k in answer.api_keys] == [(18, 0, 3)]

    simulate(main)


def test_what_cannot_be_decoded_is_the_senders_fault() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        dispatcher = Dispatcher(cluster.brokers[1].context)
        for key in ApiKey:
            for body in (b"", b"\xff" * 40, struct.pack(">i", 2**31 - 1) * 5):
                version = APIS[key].max_version
                try:
                    answer = dispatcher(received(key, version, body))
                except ProtocolError:
                    continue
                if answer is not None and not isinstance(answer, list):
                    if isinstance(answer, Coroutine):
                        answer.close()
                    else:
                        answer.cancel()
        assert cluster.disks[1].names("/logs") == [".lock", "meta.properties"]

    simulate(main)


def test_bytes_that_follow_are_refused_but_for_librdkafkas_metadata() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        dispatcher = Dispatcher(cluster.brokers[1].context)
        body = encode(MetadataRequest(topics=None), 11) + b"\0\0\0"
        assert isinstance(dispatcher(received(3, 11, body)), list)
        with pytest.raises(DecodeError):
            dispatcher(received(60, 0, b"\0\0\0"))

    simulate(main)


def test_a_hostile_connection_costs_itself_only() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for frame in (
            struct.pack(">i", -1),
            struct.pack(">i", 2**31 - 1),
            b"GET / HTTP/1.1\r\n\r\n",
            struct.pack(">ihhih", 10, 9999, 0, 1, -1),
            struct.pack(">ihhih", 10, 0, 99, 1, -1),
            struct.pack(">ihhihi", 14, 3, 0, 1, -1, 2**31 - 1),
        ):
            await cluster.send_raw(1, frame)
        assert (await cluster.produce(1, P0, batch(b"a"))).error_code == 0
        counters = cluster.brokers[1].server.counters
        assert counters.malformed == 6
        assert counters.handler_errors == 0

    simulate(main)
