"""ApiVersions, also for clients from the future."""

import pytest

from ballast.net.api_versions import answer_api_versions
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.codec import encode
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import DecodeError
from ballast.protocol.frames import RequestHeader, decode_response
from ballast.protocol.messages.cluster.api_versions import ApiVersionsRequest, ApiVersionsResponse

SERVED = (ApiKey.METADATA, ApiKey.API_VERSIONS)


@pytest.mark.parametrize(
    ("version", "answered_in", "error"),
    [
        (0, 0, ErrorCode.NONE),
        (3, 3, ErrorCode.NONE),
        (4, 0, ErrorCode.UNSUPPORTED_VERSION),
        (99, 0, ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_every_version_is_answered(version: int, answered_in: int, error: ErrorCode) -> None:
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    body = encode(request, version) if version <= 3 else b"whatever"
    header = RequestHeader(ApiKey.API_VERSIONS, version, 5, "me")

    frame = b"".join(answer_api_versions(header, body, SERVED))

    correlation_id, response = decode_response(ApiVersionsResponse, answered_in, frame[4:])
    assert correlation_id == 5
    assert response.error_code == error
    listed = [(api.api_key, api.min_version, api.max_version) for api in response.api_keys]
    assert listed == [(3, 0, 11), (18, 0, 3)]


def test_a_malformed_request_is_refused() -> None:
    with pytest.raises(DecodeError):
        answer_api_versions(RequestHeader(18, 3, 5, None), b"\x09", SERVED)
