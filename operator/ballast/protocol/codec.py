"""Messages to bytes and back.

Per class and version, straight-line code is generated on first use (`decoder_source`,
`encoder_source`) and kept; there are a few hundred such pairs at most, all from `api_keys.APIS`.
Nothing from the wire ever reaches the generators, which read class declarations only.
"""

import struct
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ballast.protocol import decoder_source, encoder_source
from ballast.protocol.errors import DecodeError, EncodeError, UnsupportedVersion
from ballast.protocol.schema import Message, Records, holds_records

MessageT = TypeVar("MessageT", bound=Message)

Decoder: TypeAlias = Callable[[Records, int, int], tuple[Message, int]]
Encoder: TypeAlias = Callable[[Message, list[Records], list[int]], None]


class _Decoding(NamedTuple):
    """A generated decoder, and whether its messages refer to the buffer (records do)."""

    decode: Decoder
    keeps_buffer: bool


_decodings: dict[tuple[type[Message], int], _Decoding] = {}
_encoders: dict[tuple[type[Message], int], Encoder] = {}

_MALFORMED = (IndexError, struct.error, UnicodeDecodeError)
_UNFIT = (struct.error, AttributeError, TypeError, UnicodeEncodeError)


def decode(
    message_class: type[MessageT], version: int, buffer: Records, *, allow_trailing: bool = False
) -> MessageT:
    """Return the message that fills ``buffer`` exactly, or begins it if ``allow_trailing``.

    Records stay slices of ``buffer``; all else is copied. Memory taken is proportional to
    ``buffer``, whatever counts it claims. Raise `DecodeError` for anything that is no such
    message, `UnsupportedVersion` for a version that the class does not have.
    """
    decoding = _decodings.get((message_class, version))
    if decoding is None:
        decoding = _make_decoding(message_class, version)
    # Indexing bytes is quicker than indexing a view, so only what holds records is not copied.
    data = memoryview(buffer) if decoding.keeps_buffer else bytes(buffer)
    end = len(data)
    try:
        message, position = decoding.decode(data, 0, end)
    except _MALFORMED as error:
        raise DecodeError(f"{message_class.__name__} v{version}: {error}") from error
    if position != end and not allow_trailing:
        raise DecodeError(f"{end - position} bytes follow {message_class.__name__} v{version}")
    return message  # type: ignore[return-value]  # a decoder returns its own class


def encode(message: Message, version: int) -> bytes:
    """Return the bytes of ``message``.

    Raise `EncodeError` for a value that the version cannot carry (and may not drop) or that does
    not fit its field, `UnsupportedVersion` for a version that the class does not have.
    """
    return b"".join(encode_parts(message, version))


def encode_parts(message: Message, version: int) -> list[Records]:
    """Return what `encode` returns, in parts of which records are the caller's own buffers.

    There is at least one part, and the first is plain bytes.
    """
    encoder = _encoders.get((type(message), version))
    if encoder is None:
        encoder = _make_encoder(type(message), version)
    chunks: list[Records] = []
    marks: list[int] = []
    try:
        encoder(message, chunks, marks)
    except _UNFIT as error:
        raise EncodeError(f"{type(message).__name__} v{version}: {error}") from error
    if not marks:
        return [b"".join(chunks)]
    parts: list[Records] = []
    begin = 0
    for mark in marks:
        parts.append(b"".join(chunks[begin:mark]))
        parts.append(chunks[mark])
        begin = mark + 1
    if begin < len(chunks):
        parts.append(b"".join(chunks[begin:]))
    return parts


def _make_decoding(message_class: type[Message], version: int) -> _Decoding:
    _check_version(message_class, version)
    flexible = version >= message_class.FLEXIBLE_FROM
    source, names = decoder_source.generate(message_class, version, flexible=flexible)
    decoding = _Decoding(_execute(source, names), holds_records(message_class, version))
    _decodings[message_class, version] = decoding
    return decoding


def _make_encoder(message_class: type[Message], version: int) -> Encoder:
    _check_version(message_class, version)
    flexible = version >= message_class.FLEXIBLE_FROM
    source, names = encoder_source.generate(message_class, version, flexible=flexible)
    encoder: Encoder = _execute(source, names)
    _encoders[message_class, version] = encoder
    return encoder


def _check_version(message_class: type[Message], version: int) -> None:
    if not message_class.VERSIONS.has(version):
        raise UnsupportedVersion(message_class.API_KEY, version)


def _execute(source: str, names: dict[str, Any]) -> Any:
    """Return the function ``generated`` that ``source`` defines."""
    exec(source, names)  # noqa: S102 - made of our own declarations, never of input
    return names["generated"]
