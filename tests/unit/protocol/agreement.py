"""What every message module is held to."""

from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.frames import decode_request, decode_response, encode_request, encode_response
from tests.unit.protocol.captured import Captured, captured
from tests.unit.protocol.oracle import check_against_kio

SIZE_BYTES = 4


def check_api(api_key: ApiKey) -> None:
    """Hold request and response, in all versions, against kio and all that was captured."""
    api = APIS[api_key]
    check_against_kio(api.request)
    check_against_kio(api.response)
    for frame in captured(api_key):
        check_captured(frame)


def check_captured(captured_frame: Captured) -> None:
    """Decode the frame and expect its bytes again."""
    _, direction, api_key, version, frame = captured_frame
    if direction == "request":
        header, request = decode_request(frame)
        assert (header.api_key, header.api_version) == (api_key, version)
        again = encode_request(header.correlation_id, header.client_id, request, version)
    else:
        response_class = APIS[ApiKey(api_key)].response
        correlation_id, response = decode_response(response_class, version, frame)
        again = encode_response(correlation_id, response, version)
    assert again[SIZE_BYTES:] == frame, captured_frame
