"""Which version both sides speak."""

import asyncio
from struct import pack
from typing import Any

import pytest

from ballast.net.client.client_connection import ClientConnection
from ballast.net.client.negotiation import ask_versions, choose_version
from ballast.net.errors import UnsupportedByPeer
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import encode_response
from ballast.protocol.messages.cluster.api_versions import ApiVersion, ApiVersionsResponse
from tests.fakes.recording_transport import RecordingTransport

KEYS = (ApiVersion(api_key=3, min_version=0, max_version=12),)


async def ask(answer: bytes) -> Any:
    connection, transport = ClientConnection(1 << 20), RecordingTransport()
    transport.bind(connection)
    asking = asyncio.gather(ask_versions(connection, "me"), return_exceptions=True)
    await asyncio.sleep(0)
    transport.feed(answer)
    return (await asking)[0]


@pytest.mark.parametrize(
    ("error", "version"), [(ErrorCode.NONE, 3), (ErrorCode.UNSUPPORTED_VERSION, 0)]
)
async def test_a_peer_lists_what_it_serves(error: ErrorCode, version: int) -> None:
    """One that does not know version 3 answers in version 0, with error 35 (KIP-511)."""
    response = ApiVersionsResponse(error_code=error, api_keys=KEYS)

    assert await ask(encode_response(1, response, version)) == {3: (0, 12)}


@pytest.mark.parametrize(
    "response",
    [
        ApiVersionsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, api_keys=KEYS),
        ApiVersionsResponse(),
    ],
    ids=["refused", "nothing"],
)
async def test_a_peer_that_lists_nothing(response: ApiVersionsResponse) -> None:
    assert isinstance(await ask(encode_response(1, response, 3)), UnsupportedByPeer)


async def test_a_short_answer() -> None:
    assert "too short" in str(await ask(pack(">ii", 4, 1)))


@pytest.mark.parametrize(
    ("served", "version"),
    [((0, 11), 11), ((0, 12), 11), ((4, 7), 7), ((11, 13), 11)],
)
def test_the_newest_common_version(served: tuple[int, int], version: int) -> None:
    assert choose_version(ApiKey.METADATA, {3: served}) == version


@pytest.mark.parametrize("served", [{3: (12, 13)}, {}])
def test_no_common_version(served: dict[int, tuple[int, int]]) -> None:
    with pytest.raises(UnsupportedByPeer):
        choose_version(ApiKey.METADATA, served)
