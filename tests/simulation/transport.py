"""One connection's two ends, and how bytes and endings travel between them."""

import asyncio
import contextvars
from enum import Enum
from typing import TYPE_CHECKING, Any

from tests.simulation.hosts import Host

if TYPE_CHECKING:
    from tests.simulation.network import Network

HIGH_WATER = 64 * 1024
CHUNKED = 0.1
"""Share of deliveries that carry only a part of what was sent."""


class Connection:
    """Two transports, one on each host."""

    def __init__(self, network: "Network", source: Host, target: Host) -> None:
        self.network = network
        self.source = source
        self.target = target
        self.near = SimulatedTransport(self, source, target)
        self.far = SimulatedTransport(self, target, source)
        self.near.peer, self.far.peer = self.far, self.near

    def reset(self, error: Exception) -> None:
        """End both sides at once."""
        self.near.lose(error)
        self.far.lose(error)

    def end_killed(self, host: Host) -> None:
        """Let the side of a killed host reset the other, when the link lets the reset through."""
        (self.near if self.source is host else self.far).kill()

    def forget_if_ended(self) -> None:
        """Leave the network once neither side can be told anything."""
        if self.near.is_closing() and self.far.is_closing():
            self.network.forget(self)


class SimulatedTransport(asyncio.Transport):
    """One side of a connection.

    What it sends waits in ``_sent``, then comes ``_end`` if the side has ended: None while it has
    not, FIN after a close, RESET after an abort or a kill. One delivery is under way at a time.
    """

    def __init__(self, connection: Connection, host: Host, remote: Host) -> None:
        super().__init__({"peername": (remote.name, 0), "sockname": (host.name, 0)})
        self.peer: SimulatedTransport = self
        self._connection = connection
        self._link = (host.name, remote.name)
        self._loop = connection.network.loop
        self._protocol: Any = None
        self._context = contextvars.copy_context()
        self._sent = bytearray()
        self._end: _End | None = None
        self._end_delivered = False
        self._delivering = False
        self._closing = False
        self._write_paused = False
        self._reading = True

    def bind(self, protocol: asyncio.BaseProtocol, context: contextvars.Context) -> None:
        """Give the transport its protocol; all of its callbacks run in ``context``."""
        self._protocol = protocol
        self._context = context
        self._loop.call_soon(protocol.connection_made, self, context=context)

    # -- what protocols call --------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send; the bytes are taken at once."""
        if self._closing or self._end is not None:
            return
        self._sent += data
        if len(self._sent) > HIGH_WATER and not self._write_paused:
            self._write_paused = True
            self._protocol.pause_writing()
        self.pump()

    def writelines(self, list_of_data: Any) -> None:
        """Send several buffers."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """Send the stream's end; receiving goes on."""
        self._end = self._end or _End.FIN
        self.pump()

    def can_write_eof(self) -> bool:
        """Return True."""
        return True

    def get_write_buffer_size(self) -> int:
        """Return what is not delivered yet, in bytes."""
        return len(self._sent)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Take no notice: the limit is the simulation's."""

    def is_closing(self) -> bool:
        """Whether the connection is closing or closed."""
        return self._closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol."""
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Set the protocol."""
        self._protocol = protocol

    def pause_reading(self) -> None:
        """Stop delivering to this side."""
        self._reading = False

    def resume_reading(self) -> None:
        """Go on delivering to this side."""
        self._reading = True
        self.peer.pump()

    def is_reading(self) -> bool:
        """Whether bytes are delivered to this side."""
        return self._reading and not self._closing

    def close(self) -> None:
        """Close after what was written has been sent (the kernel sees to that)."""
        self._end = self._end or _End.FIN
        self.lose(None)
        self.pump()

    def abort(self) -> None:
        """Drop what was not sent and reset the connection."""
        self._sent.clear()
        self._end = _End.RESET
        self.lose(None)
        self.pump()

    # -- the wire -------------------------------------------------------------------------------

    def lose(self, error: Exception | None) -> None:
        """Tell the protocol that its connection is gone, once."""
        if self._closing:
            return
        self._closing = True
        self._loop.call_soon(self._protocol.connection_lost, error, context=self._context)
        self._connection.forget_if_ended()
        self.peer.pump()

    def kill(self) -> None:
        """End without a word to the protocol; the kernel may still send what it holds."""
        if self._loop.random.random() < 0.5:
            self._sent.clear()
        self._closing = True
        self._end = _End.RESET
        self._connection.forget_if_ended()
        self.pump()

    def pump(self) -> None:
        """Have one delivery under way while there is something to deliver."""
        if self._delivering or self._end_delivered or not (self._sent or self._end):
            return
        if self._is_blocked():
            return
        self._delivering = True
        delay = self._connection.network.delay(*self._link)
        self._loop.call_later(delay, self._deliver, context=self.peer._context)

    def _is_blocked(self) -> bool:
        if self._connection.network.is_cut(*self._link):
            return True
        return not (self.peer.is_reading() or self.peer.is_closing() or self._end is _End.RESET)

    def _deliver(self) -> None:
        """Hand over the next bytes, or the end. Runs on the receiving host."""
        self._delivering = False
        if self._is_blocked():
            return
        if self._sent:
            chunk = self._next_chunk()
            if not self.peer.is_closing():
                _feed(self.peer._protocol, chunk)
        else:
            self._end_delivered = True
            self.peer.receive_end(self._end)
        self.pump()

    def _next_chunk(self) -> bytes:
        size = len(self._sent)
        if self._loop.random.random() < CHUNKED:
            size = self._loop.random.randint(1, size)
        chunk = bytes(self._sent[:size])
        del self._sent[:size]
        if self._write_paused and len(self._sent) <= HIGH_WATER // 4:
            self._write_paused = False
            self._loop.call_soon(self._resume_writing, context=self._context)
        return chunk

    def _resume_writing(self) -> None:
        if not self._closing:
            self._protocol.resume_writing()

    def receive_end(self, end: "_End | None") -> None:
        """Take the other side's end."""
        if end is _End.RESET:
            self._sent.clear()
            self.lose(ConnectionResetError(104, "reset by the peer"))
        elif not self._closing and not self._protocol.eof_received():
            self.close()


class _End(Enum):
    FIN = "fin"
    RESET = "reset"


def _feed(protocol: asyncio.Protocol | asyncio.BufferedProtocol, chunk: bytes) -> None:
    if isinstance(protocol, asyncio.BufferedProtocol):
        view = memoryview(chunk)
        while view:
            buffer = memoryview(protocol.get_buffer(len(view)))
            size = min(len(buffer), len(view))
            buffer[:size] = view[:size]
            protocol.buffer_updated(size)
            view = view[size:]
    else:
        protocol.data_received(chunk)
