"""A lean blocking client: it sends frames made beforehand and reads answers without decoding them.

So that what is measured is the broker, not the client.
"""

import socket
import struct
import time
from typing import Any

from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.frames import decode_response, encode_request

_SIZE = struct.Struct(">i")
_RECEIVE_BYTES = 4 * 1024 * 1024


class BenchClient:
    """One connection to one broker."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = memoryview(bytearray(_RECEIVE_BYTES))

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def request(self, message: Any, version: int) -> Any:
        """Return the decoded answer to one request."""
        self._socket.sendall(encode_request(1, "bench", message, version))
        frame = self._read_frame()
        return decode_response(APIS[ApiKey(message.API_KEY)].response, version, frame)[1]

    def pump(self, frame: bytes, count: int, *, depth: int) -> float:
        """Send one frame ``count`` times, ``depth`` unanswered at most; return seconds taken."""
        started = time.perf_counter()
        for number in range(count):
            self._socket.sendall(frame)
            if number >= depth - 1:
                self._read_frame()
        for _ in range(min(depth - 1, count)):
            self._read_frame()
        return time.perf_counter() - started

    def fetch_all(self, frames: list[bytes], *, depth: int) -> tuple[int, float]:
        """Send fetches in order, ``depth`` unanswered at most; return bytes read and seconds."""
        started = time.perf_counter()
        received = 0
        for number, frame in enumerate(frames):
            self._socket.sendall(frame)
            if number >= depth - 1:
                received += len(self._read_frame())
        for _ in range(min(depth - 1, len(frames))):
            received += len(self._read_frame())
        return received, time.perf_counter() - started

    def _read_frame(self) -> memoryview:
        """Return one answer; valid until the next one is read."""
        size = _SIZE.unpack(self._fill(_SIZE.size))[0]
        return self._fill(size)

    def _fill(self, size: int) -> memoryview:
        filled = 0
        while filled < size:
            received = self._socket.recv_into(self._buffer[filled:size])
            if not received:
                raise ConnectionResetError("the broker closed the connection")
            filled += received
        return self._buffer[:size]
