"""Frames: a size of four bytes, a header, a body.

Request headers are of version 0 (ControlledShutdown v0: no client id), 1, or 2 (flexible: tagged
fields); response headers of version 0, or 1 for flexible versions, except ApiVersions, whose
response must be readable by a client that does not know the version yet (KIP-511).
Functions take and return bytes only; splitting a stream into frames is the connection's task.
"""

from functools import lru_cache
from struct import Struct
from typing import NamedTuple, TypeVar

from ballast.protocol.api_keys import APIS, Api, ApiKey
from ballast.protocol.codec import decode, encode_parts
from ballast.protocol.errors import DecodeError, UnknownApiKey, UnsupportedVersion
from ballast.protocol.primitives import refused_length, skip_tags
from ballast.protocol.schema import Message, Records

MessageT = TypeVar("MessageT", bound=Message)

SIZE_BYTES = 4
"""Bytes of the size before each frame; the size does not count them."""

LEAST_REQUEST_SIZE = 8
"""Key, version and correlation id."""

_CLIENT_ID_AT = LEAST_REQUEST_SIZE + 2
_API_VERSIONS = int(ApiKey.API_VERSIONS)
_CONTROLLED_SHUTDOWN = int(ApiKey.CONTROLLED_SHUTDOWN)

_SIZE_CORRELATION = Struct(">ii")
_SIZE_CORRELATION_NO_TAGS = Struct(">iix")
_KEY_VERSION_CORRELATION = Struct(">hhi")
_INT16 = Struct(">h")
_INT32 = Struct(">i")
_NO_TAGS = b"\0"

_REQUEST_HEADER_VERSIONS = {
    (int(key), version): 2 if version >= api.flexible_from else 1
    for key, api in APIS.items()
    for version in range(api.min_version, api.max_version + 1)
}
_REQUEST_HEADER_VERSIONS[ApiKey.CONTROLLED_SHUTDOWN, 0] = 0


class RequestHeader(NamedTuple):
    """What stands before a request's body."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def decode_request_header(frame: Records) -> tuple[RequestHeader, int]:
    """Return the header of a request ``frame`` (without its size) and where the body begins.

    Raise `UnknownApiKey` or `UnsupportedVersion` before anything that depends on the version is
    read, `DecodeError` otherwise. ApiVersions alone also passes in a version that is not served,
    its client and body unread: its handler answers in version 0 (KIP-511).
    """
    if len(frame) < LEAST_REQUEST_SIZE:
        raise DecodeError(f"a request of {len(frame)} bytes is too short for a header")
    key, version, correlation_id = _KEY_VERSION_CORRELATION.unpack_from(frame)
    header_version = _REQUEST_HEADER_VERSIONS.get((key, version))
    if header_version is None:
        if key != _API_VERSIONS:
            api_of(key)
            raise UnsupportedVersion(key, version)
        return RequestHeader(key, version, correlation_id, None), len(frame)
    if header_version == 0:
        return RequestHeader(key, version, correlation_id, None), LEAST_REQUEST_SIZE
    # A plain nullable string in every header version that has one.
    if len(frame) < _CLIENT_ID_AT:
        raise DecodeError("the header ends before the client id")
    (length,) = _INT16.unpack_from(frame, LEAST_REQUEST_SIZE)
    position = _CLIENT_ID_AT + max(length, 0)
    if length < -1 or position > len(frame):
        raise refused_length(length, len(frame) - _CLIENT_ID_AT)
    try:
        client_id = None if length < 0 else str(frame[_CLIENT_ID_AT:position], "utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("the client id is no UTF-8") from error
    if header_version == 2:
        if position < len(frame) and not frame[position]:
            position += 1  # no tags, as in nearly all headers
        else:
            position = skip_tags(frame, position, len(frame))
    return RequestHeader(key, version, correlation_id, client_id), position


def api_of(key: int) -> Api:
    """Return the API of ``key``; raise `UnknownApiKey`."""
    try:
        return APIS[ApiKey(key)]
    except ValueError:
        raise UnknownApiKey(key) from None


def decode_request(frame: Records) -> tuple[RequestHeader, Message]:
    """Return header and message of a whole request ``frame`` (without its size)."""
    header, position = decode_request_header(frame)
    view = memoryview(frame)[position:]
    return header, decode(api_of(header.api_key).request, header.api_version, view)


def encode_request(
    correlation_id: int, client_id: str | None, message: Message, version: int
) -> bytes:
    """Return a request with its size; raise `EncodeError` or `UnsupportedVersion`."""
    parts = encode_request_parts(correlation_id, client_id, message, version)
    return bytes(parts[0]) if len(parts) == 1 else b"".join(parts)


def encode_request_parts(
    correlation_id: int, client_id: str | None, message: Message, version: int
) -> list[Records]:
    """Return what `encode_request` returns, in parts; records are passed by reference."""
    key = message.API_KEY
    header = _KEY_VERSION_CORRELATION.pack(key, version, correlation_id)
    if key != _CONTROLLED_SHUTDOWN or version > 0:
        header += _client_id_bytes(client_id)
    if version >= message.FLEXIBLE_FROM:
        header += _NO_TAGS
    parts = encode_parts(message, version)
    size = len(header) + sum(map(len, parts))
    parts[0] = b"".join((_INT32.pack(size), header, parts[0]))
    return parts


@lru_cache(maxsize=64)
def _client_id_bytes(client_id: str | None) -> bytes:
    if client_id is None:
        return _INT16.pack(-1)
    encoded = client_id.encode()
    return _INT16.pack(len(encoded)) + encoded


def encode_response_parts(correlation_id: int, message: Message, version: int) -> list[Records]:
    """Return a response with its size, in parts; records are passed by reference.

    A first part of plain bytes is joined to size and header.
    """
    parts = encode_parts(message, version)
    first = parts[0]
    layout, rest = _SIZE_CORRELATION, 4
    if version >= message.FLEXIBLE_FROM and message.API_KEY != _API_VERSIONS:
        layout, rest = _SIZE_CORRELATION_NO_TAGS, 5
    size = rest + (len(first) if len(parts) == 1 else sum(map(len, parts)))
    parts[0] = b"".join((layout.pack(size, correlation_id), first))
    return parts


def encode_response(correlation_id: int, message: Message, version: int) -> bytes:
    """Return a response with its size."""
    return b"".join(encode_response_parts(correlation_id, message, version))


def decode_response(
    message_class: type[MessageT], version: int, frame: Records
) -> tuple[int, MessageT]:
    """Return correlation id and message of a response ``frame`` (without its size)."""
    if len(frame) < SIZE_BYTES:
        raise DecodeError(f"a response of {len(frame)} bytes has no correlation id")
    (correlation_id,) = _INT32.unpack_from(frame)
    position = SIZE_BYTES
    if version >= message_class.FLEXIBLE_FROM and message_class.API_KEY != _API_VERSIONS:
        if position < len(frame) and not frame[position]:
            position += 1
        else:
            position = skip_tags(frame, position, len(frame))
    return correlation_id, decode(message_class, version, memoryview(frame)[position:])
