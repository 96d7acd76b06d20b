"""The last answer to a request that is sent again and again: equal bytes are not decoded again."""

from typing import Any

from ballast.protocol.frames import SIZE_BYTES, decode_response
from ballast.protocol.schema import Message


class LastResponse:
    """One answer and its bytes. Not for responses with records, which are views of a buffer."""

    def __init__(self) -> None:
        self._kind: tuple[type[Message], int] | None = None
        self._body = b""
        self._message: Any = None

    def decode(self, message_class: type[Message], version: int, frame: memoryview) -> Any:
        """Return the message in a response ``frame``, the same object as long as it is the same.

        Raises `DecodeError`.
        """
        body = bytes(frame[SIZE_BYTES:])
        if self._kind != (message_class, version) or self._body != body:
            self._message = decode_response(message_class, version, frame)[1]
            self._kind, self._body = (message_class, version), body
        return self._message
