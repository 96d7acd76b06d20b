"""Negotiates the version of a request (ApiVersions, KIP-35, KIP-511)."""

from collections.abc import Mapping
from struct import Struct

from ballast.net.client.client_connection import ClientConnection
from ballast.net.errors import MalformedResponse, UnsupportedByPeer
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.frames import encode_request
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse

_ERROR_AFTER_CORRELATION_ID = Struct(">ih")

SOFTWARE_NAME = "ballast"
SOFTWARE_VERSION = "0.1.0"


async def ask_versions(
    connection: ClientConnection, client_id: str
) -> Mapping[int, tuple[int, int]]:
    """Return the first and last version that the peer serves, by API key.

    A peer that does not know our version of ApiVersions answers in version 0 and lists its own.
    """
    version = APIS[ApiKey.API_VERSIONS].max_version
    correlation_id = connection.next_correlation_id()
    message = ApiVersionsRequest(
        client_software_name=SOFTWARE_NAME, client_software_version=SOFTWARE_VERSION
    )
    frame = await connection.send(
        correlation_id, encode_request(correlation_id, client_id, message, version)
    )
    if len(frame) < _ERROR_AFTER_CORRELATION_ID.size:
        raise MalformedResponse("ApiVersions: answer too short")
    _, error = _ERROR_AFTER_CORRELATION_ID.unpack_from(frame)
    if error == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    response = decode(ApiVersionsResponse, version, frame[4:])
    if error not in (ErrorCode.NONE, ErrorCode.UNSUPPORTED_VERSION) or not response.api_keys:
        raise UnsupportedByPeer(f"ApiVersions was answered with error {error}")
    return {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}


def choose_version(api_key: int, served: Mapping[int, tuple[int, int]]) -> int:
    """Return the newest version that both sides support; raises `UnsupportedByPeer`."""
    api = APIS[ApiKey(api_key)]
    first, last = served.get(api_key, (0, -1))
    version = min(last, api.max_version)
    if version < max(first, api.min_version):
        raise UnsupportedByPeer(
            f"{ApiKey(api_key).name}: peer serves {first} to {last}, "
            f"known are {api.min_version} to {api.max_version}"
        )
    return version
