"""One client's connection: frames in, responses out, in order and within limits."""

import asyncio
import logging
import socket
from collections import deque
from typing import Protocol, cast

from ballast.net.errors import MalformedFrame
from ballast.net.frame_buffer import FrameBuffer
from ballast.net.server.limits import ServerCounters, ServerLimits
from ballast.net.server.liveness import Liveness
from ballast.net.server.peer_state import has_ended
from ballast.net.server.pending_responses import PendingResponse
from ballast.net.server.request_memory import RequestMemory
from ballast.net.server.requests import Handler, ReceivedRequest, ResponseParts
from ballast.protocol.errors import ProtocolError
from ballast.protocol.frames import decode_request_header

log = logging.getLogger(__name__)

REQUESTS_PER_TURN = 128
"""Requests of one connection that are handled before the event loop serves other connections."""

JOINED_BELOW = 8 * 1024
"""Responses below this many bytes are copied into one buffer; larger ones are sent as parts."""


class ConnectionOwner(Protocol):
    """What a connection needs of its server."""

    handler: Handler
    tasks: asyncio.TaskGroup
    limits: ServerLimits
    counters: ServerCounters
    request_memory: RequestMemory | None

    def admit(self, connection: "Connection") -> str | None:
        """Register a new connection, or return why it is refused."""

    def turn_in_s(self, now: float) -> float:
        """Return for how many seconds a connection accepted now is not read from."""

    def forget(self, connection: "Connection") -> None:
        """Remove a connection that was lost."""


class Connection(asyncio.BufferedProtocol):
    """The protocol of one accepted connection (see `ballast.net.server.server.Server`).

    It is read while fewer than ``max_in_flight`` requests are unanswered and the client reads its
    responses. Otherwise neither the socket nor the buffer is read any further, and the kernel is
    asked periodically whether the client still has the connection open (`net.server.peer_state`).

    Requests of one connection are started in order and answered in order, but one that waits does
    not keep the next from starting, up to ``max_in_flight``. (Kafka mutes the connection until the
    request is answered.) So a Heartbeat behind a waiting JoinGroup counts at once, and records
    behind a waiting acks=all are appended at once, in the order in which they were sent. Clients do
    not depend on either behaviour: those that pipeline requests need the order of appends and of
    responses only, and both are kept.
    """

    def __init__(self, owner: ConnectionOwner, loop: asyncio.AbstractEventLoop) -> None:
        self.connection_id = 0
        self.peer_host = ""
        self._owner = owner
        self._loop = loop
        self._limits = owner.limits
        self._buffer = FrameBuffer(owner.limits.request_max_bytes)
        self._transport: asyncio.Transport | None = None
        self._pending: deque[PendingResponse] = deque()
        self._under_way = 0
        """Sum of the weights of the unanswered requests."""
        self._outgoing: ResponseParts = []
        self._outgoing_bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._write_paused = False
        self._reading_paused = False
        self._yielded = False
        self._closing = False
        self._memory = owner.request_memory
        self._taken_bytes = 0
        """What the request that is being read has taken of `RequestMemory`."""
        self._waits_for_room = False
        self._liveness = Liveness(owner.limits, loop.time())

    @property
    def descriptor(self) -> int:
        """The descriptor of the socket; -1 if there is none."""
        own = self._transport.get_extra_info("socket") if self._transport is not None else None
        return -1 if own is None else int(own.fileno())

    # -- called by the transport ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register with the server; close at once if the server refuses (``max.connections``)."""
        self._transport = transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.peer_host = str(peer[0]) if peer else ""
        refusal = self._owner.admit(self)
        if refusal is not None:
            log.warning("refused a connection from %s: %s", self.peer_host, refusal)
            self._closing = True
            transport.abort()
            return
        transport.set_write_buffer_limits(high=self._limits.output_high_water)
        if (own := transport.get_extra_info("socket")) is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self._limits.send_buffer_bytes)
            own.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # as Kafka's Acceptor does
        self._arm_timer()
        delay_s = self._owner.turn_in_s(self._loop.time())
        if delay_s > 0:
            self._yielded = True
            # uvloop begins to read after this method has returned, even if it pauses reading.
            self._loop.call_soon(self._pause_reading)
            self._loop.call_later(delay_s, self._take_turn)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the frame knows better
        """Return where the next bytes go."""
        return self._buffer.writable()

    def buffer_updated(self, nbytes: int) -> None:
        """Handle every request that is now complete."""
        self._buffer.received(nbytes)
        self._liveness.received(self._loop.time())
        if not self._closing and not self._yielded:
            self._start_requests()

    def pause_writing(self) -> None:
        """Start no more requests: the client does not read its responses."""
        self._write_paused = True
        self._liveness.write_paused(self._loop.time())
        self._pause_reading()

    def resume_writing(self) -> None:
        """Start requests again."""
        self._write_paused = False
        self._liveness.write_resumed(self._loop.time())
        self._resume()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - every end is alike
        """Cancel the requests that are not answered yet."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, deque()
        for request in pending:
            request.cancel()
        self._outgoing = []
        if self._memory is not None:
            self._memory.forget(self.connection_id)
            self._give_back_room(self._memory)
        self._owner.forget(self)

    # -- called by the server and by pending responses ------------------------------------------

    def close_when_answered(self) -> None:
        """Stop reading; close once every started request is answered and its response sent."""
        self._closing = True
        self._pause_reading()
        if not self._pending and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close at once, without sending what is buffered."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    def fail(self, reason: str) -> None:
        """Close because of ``reason``, with one line in the log."""
        self._fail(logging.WARNING, reason, None)

    def fail_handler(self, error: BaseException) -> None:
        """Close because the handler failed to answer."""
        if self._transport is None or self._transport.is_closing():
            return
        if isinstance(error, ProtocolError):
            self._owner.counters.malformed += 1
            self._fail(logging.WARNING, f"malformed request: {error}", None)
        else:
            self._owner.counters.handler_errors += 1
            self._fail(logging.ERROR, "a request failed", error)

    def _fail(self, level: int, reason: str, error: BaseException | None) -> None:
        assert self._transport is not None
        if self._transport.is_closing():
            return
        log.log(
            level,
            "closing connection %d of %s: %s",
            self.connection_id,
            self.peer_host,
            reason,
            exc_info=error,
        )
        self._closing = True
        if self._outgoing:
            self._flush()
        self._transport.close()

    def send_responses(self) -> None:
        """Send the responses whose turn has come, then start requests that had to wait."""
        pending = self._pending
        while pending and pending[0].is_done:
            request = pending.popleft()
            self._under_way -= request.weight
            if request.parts is not None:
                self._put(request.parts)
        if self._outgoing:
            self._flush()
        if self._closing:
            if not pending and self._transport is not None:
                self._transport.close()
        elif self._reading_paused:
            # Not now: the response may complete while another connection's request is handled.
            self._loop.call_soon(self._resume)

    # -- requests ------------------------------------------------------------------------------

    def _start_requests(self) -> None:
        """Start the complete requests in the buffer, as far as the limits allow."""
        now = self._loop.time()
        buffer = self._buffer
        most_in_flight = self._limits.max_in_flight
        started = 0
        while not (self._closing or self._write_paused or self._under_way >= most_in_flight):
            if started == REQUESTS_PER_TURN:
                self._yielded = True
                self._loop.call_soon(self._take_turn)
                break
            if self._memory is not None and not self._has_room(self._memory):
                break
            try:
                frame = buffer.next_frame()
            except MalformedFrame as error:
                self._owner.counters.malformed += 1
                self.fail(f"malformed frame: {error}")
                break
            if frame is None:
                break
            started += 1
            self._start(frame)
            if self._memory is not None:
                self._give_back_room(self._memory)
            if buffer.is_at_end:
                break
        self._owner.counters.requests += started
        if self._outgoing:
            self._flush()
        if self._yielded or self._is_blocked():
            self._pause_reading()
        self._note_read(now, is_new_frame=started > 0)

    def _start(self, frame: memoryview) -> None:
        try:
            header, body_at = decode_request_header(frame)
            answer = self._owner.handler(
                ReceivedRequest(header, frame[body_at:], self.peer_host, self.connection_id)
            )
        except Exception as error:  # noqa: BLE001 - logged; one connection's failure stays its own
            self.fail_handler(error)
            return
        if answer is None:
            return
        if not isinstance(answer, list):
            request = PendingResponse(self)
            self._pending.append(request)
            request.wait_for(answer, self._owner.tasks)
            self._under_way += request.weight
        elif self._pending:
            self._pending.append(PendingResponse(self, answer))
            self._under_way += 1
        else:
            self._put(answer)

    def _has_room(self, memory: RequestMemory) -> bool:
        """Whether the next request may be read: its length is not known yet, or there is memory."""
        size = self._buffer.announced
        if self._taken_bytes or size is None:
            return True
        if memory.take(size):
            self._taken_bytes = size
            return True
        self._waits_for_room = True
        memory.wait(self.connection_id, self._room_is_free)
        return False

    def _room_is_free(self) -> None:
        self._waits_for_room = False
        # Not now: it is called while another connection's request is handled.
        self._loop.call_soon(self._resume)

    def _give_back_room(self, memory: RequestMemory) -> None:
        taken, self._taken_bytes = self._taken_bytes, 0
        if taken:
            memory.give_back(taken)

    def _is_blocked(self) -> bool:
        is_full = self._under_way >= self._limits.max_in_flight
        return self._write_paused or self._waits_for_room or is_full

    def _may_resume(self) -> bool:
        return not (self._closing or self._yielded or self._is_blocked())

    def _take_turn(self) -> None:
        self._yielded = False
        self._resume()

    def _resume(self) -> None:
        """Handle what is in the buffer, then resume reading, unless a limit still forbids it."""
        if not self._reading_paused or not self._may_resume():
            return
        self._start_requests()
        if not self._may_resume():
            return
        self._reading_paused = False
        now = self._loop.time()
        self._liveness.resumed(now)
        self._note_read(now, is_new_frame=False)
        assert self._transport is not None
        self._transport.resume_reading()

    def _pause_reading(self) -> None:
        if not self._reading_paused and self._transport is not None:
            self._reading_paused = True
            self._liveness.held(self._loop.time())
            if not self._transport.is_closing():
                self._transport.pause_reading()

    # -- responses -----------------------------------------------------------------------------

    def _put(self, parts: ResponseParts) -> None:
        self._outgoing += parts
        for part in parts:
            self._outgoing_bytes += len(part)
        if self._outgoing_bytes >= self._limits.output_high_water:
            self._flush()

    def _flush(self) -> None:
        outgoing, self._outgoing = self._outgoing, []
        size, self._outgoing_bytes = self._outgoing_bytes, 0
        assert self._transport is not None
        if len(outgoing) == 1:
            self._transport.write(outgoing[0])
        elif size < JOINED_BELOW:
            self._transport.write(b"".join(outgoing))
        else:
            self._transport.writelines(outgoing)

    # -- time ----------------------------------------------------------------------------------

    def _note_read(self, now: float, *, is_new_frame: bool) -> None:
        self._liveness.read(
            now,
            is_frame_incomplete=not self._reading_paused and self._buffer.pending > 0,
            is_new_frame=is_new_frame,
        )

    def _arm_timer(self) -> None:
        delay_s = self._liveness.next_look_s(self._loop.time())
        self._timer = self._loop.call_later(delay_s, self._check)

    def _check(self) -> None:
        """Close a connection that has ended or stalled; free a receive buffer that is not used."""
        transport = self._transport
        assert transport is not None
        reason: str | None = None
        if self._is_blocked() and has_ended(transport.get_extra_info("socket")):
            reason = "the client has closed it"
        else:
            reason = self._liveness.overdue(
                self._loop.time(),
                pending=self._buffer.pending,
                unsent=transport.get_write_buffer_size(),
            )
            self._owner.counters.timed_out += reason is not None
        if reason is None:
            self._buffer.trim()
            self._arm_timer()
            return
        self._timer = None
        log.info("closing connection %d of %s: %s", self.connection_id, self.peer_host, reason)
        self.abort()
