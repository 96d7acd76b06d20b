"""A transport without a socket: what is written is kept, what happens is told by the test."""

import asyncio
import socket
from collections.abc import Iterable


class FakeSocket:
    """What the kernel says of a connection."""

    def __init__(self) -> None:
        self.options: dict[tuple[int, int], int] = {}
        self.tcp_state: int | None = 1
        """None: the kernel cannot tell."""

    def setsockopt(self, level: int, name: int, value: int) -> None:
        self.options[level, name] = value

    def getsockopt(self, level: int, name: int, size: int, /) -> bytes:
        assert (level, name, size) == (socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        if self.tcp_state is None:
            raise OSError(92, "protocol not available")
        return bytes([self.tcp_state])


class RecordingTransport(asyncio.Transport):
    """Keeps what is written; ``accepts`` bounds how much the far side takes."""

    def __init__(
        self,
        peer: str = "10.0.0.1",
        accepts: int | None = None,
        kernel: FakeSocket | None = None,
    ) -> None:
        super().__init__({"peername": (peer, 40000), "socket": kernel})
        self.writes: list[bytes] = []
        """One element per write or writelines."""
        self.unsent = 0
        self.accepts = accepts
        self.is_paused = False
        self.closed = False
        self.aborted = False
        self.high = 64 * 1024
        self._protocol: asyncio.BufferedProtocol | None = None

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)

    def bind(self, protocol: asyncio.BufferedProtocol) -> None:
        self._protocol = protocol
        protocol.connection_made(self)

    def feed(self, data: bytes) -> None:
        """Deliver bytes as a socket would: as many reads as needed."""
        assert self._protocol is not None
        view = memoryview(data)
        while view:
            room = memoryview(self._protocol.get_buffer(-1))
            assert room, "a protocol always offers room"
            size = min(len(room), len(view))
            room[:size] = view[:size]
            self._protocol.buffer_updated(size)
            view = view[size:]

    def drain(self) -> None:
        """Let the far side take everything."""
        self.accepts = None
        self.unsent = 0
        assert self._protocol is not None
        self._protocol.resume_writing()

    def lose(self) -> None:
        assert self._protocol is not None
        self.closed = True
        self._protocol.connection_lost(None)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))
        if self.accepts is not None:
            self.unsent += max(0, len(data) - self.accepts)
            self.accepts = max(0, self.accepts - len(data))
            if self.unsent > self.high and self._protocol is not None:
                self._protocol.pause_writing()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del low
        self.high = high or self.high

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def is_closing(self) -> bool:
        return self.closed or self.aborted

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True
