"""The receive buffer of a connection: cuts the byte stream into length-prefixed frames. No I/O.

Goals: a frame lies in one piece and is never copied; a client that keeps sending large frames
causes no allocation; a length that is announced but not sent costs no memory.

Constraints: memory is at most twice what has arrived (plus a small start), because the capacity
doubles only when the buffer is full. A view of a frame is overwritten by later reads.

Algorithm: at the start of a frame, room for as many bytes as the last frame had is offered to the
transport. Once the length of a large frame is known, exactly its rest is offered, so that the next
frame begins at the front of the buffer again. Small frames are read many at a time, and the
incomplete rest of the last one is moved to the front.
"""

from struct import Struct

from ballast.net.errors import MalformedFrame

INITIAL_CAPACITY = 4 * 1024
READ_AHEAD = 256 * 1024
"""Bytes offered for one read when the length of the frame is not known yet."""

MAX_SPARES = 2

_LENGTH = Struct(">i")
_NOTHING = memoryview(bytearray())


class FrameBuffer:
    """Takes bytes as they arrive, returns complete frames."""

    __slots__ = (
        "_capacity",
        "_end",
        "_full",
        "_largest",
        "_max_frame_bytes",
        "_min_frame_bytes",
        "_needed",
        "_spares",
        "_start",
        "_used",
        "_view",
        "_window",
        "is_at_end",
    )

    def __init__(self, max_frame_bytes: int, min_frame_bytes: int = 8) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._min_frame_bytes = min_frame_bytes
        self._view = _NOTHING
        self._spares: list[bytearray] = []
        """Buffers that were given away, for reuse once no view of them is left."""
        self._capacity = 0
        """Of the present buffer, or of the one that the next bytes are read into."""
        self._start = 0
        self._end = 0
        self._needed = 0
        """Whole size of the incomplete frame at the start; 0 = not known."""
        self._window = READ_AHEAD
        self._full = False
        self._used = False
        self._largest = 0
        self.is_at_end = True
        """Whether no byte followed the last frame when it was taken."""

    @property
    def pending(self) -> int:
        """Bytes that have arrived and belong to no frame that was taken."""
        return self._end - self._start

    @property
    def announced(self) -> int | None:
        """The length of the frame at the start; None if it is not known or not valid."""
        if self._end - self._start < 4:
            return None
        (size,) = _LENGTH.unpack_from(self._view, self._start)
        return size if self._min_frame_bytes <= size <= self._max_frame_bytes else None

    @property
    def capacity(self) -> int:
        """Bytes that the buffer holds in memory."""
        return len(self._view)

    def writable(self) -> memoryview:
        """Return room for the next read: never empty, sized by what has arrived before."""
        if self._start == self._end:
            self._start = self._end = 0
            if self._full and self._capacity < READ_AHEAD:
                self._replace(2 * self._capacity)
            elif not self._view:
                self._replace(self._capacity or INITIAL_CAPACITY)
            self._full = False
            return self._view[: self._window]
        if self._start:
            self._move_to_front()
        limit = self._capacity
        if self._needed > READ_AHEAD and self._end < self._needed:
            limit = min(limit, self._needed)
        if self._end == self._capacity:
            # Exactly the frame's size at last, so that a steady sender's frame just fits.
            doubled = 2 * self._capacity
            fits = READ_AHEAD < self._needed < doubled
            self._replace(self._needed if fits and self._end < self._needed else doubled)
            limit = self._capacity
        return self._view[self._end : limit]

    def received(self, size: int) -> None:
        """Record that ``size`` bytes were put into the room that `writable` returned last."""
        self._end += size
        self._used = True
        if self._end == self._capacity:
            self._full = True

    def next_frame(self) -> memoryview | None:
        """Return the next frame without its length, or None until it is complete.

        Raises `MalformedFrame` for an impossible length.
        """
        start = self._start
        available = self._end - start
        if available < 4:
            self._needed = 0
            return None
        (size,) = _LENGTH.unpack_from(self._view, start)
        if size < self._min_frame_bytes or size > self._max_frame_bytes:
            raise MalformedFrame(f"frame length {size}")
        total = size + 4
        if available < total:
            self._needed = total
            return None
        self._start = start + total
        self.is_at_end = available == total
        self._needed = 0
        self._window = max(READ_AHEAD, total)
        self._largest = max(self._largest, total)
        return self._view[start + 4 : start + total]

    def give_away(self) -> None:
        """Leave the buffer to those who hold views of it; later bytes go into another one.

        It is reused when the last of those views is gone.
        """
        given, rest = self._view, self._view[self._start : self._end]
        self._view = _NOTHING
        self._start = self._end = 0
        if len(rest):
            self._replace(max(self._capacity, len(rest)))
            self._view[: len(rest)] = rest
            self._end = len(rest)
        if isinstance(given.obj, bytearray):
            self._spares = [given.obj, *self._spares[: MAX_SPARES - 1]]

    def trim(self) -> None:
        """Free what was not used since the last trim; called periodically."""
        if self._start == self._end:
            if not self._used:
                self._view = _NOTHING
                self._capacity = 0
                self._start = self._end = 0
            elif self._capacity > 4 * max(self._largest, READ_AHEAD):
                self._view = _NOTHING
                self._capacity = max(self._largest, READ_AHEAD)
                self._start = self._end = 0
            self._window = READ_AHEAD
            self._full = False
            self._spares.clear()
        self._used = False
        self._largest = 0

    def _replace(self, capacity: int) -> None:
        """Switch to another buffer; the event loop may hold the old one, so it keeps its size."""
        view = memoryview(self._obtain(capacity))
        view[: self._end] = self._view[: self._end]
        self._view = view
        self._capacity = capacity

    def _obtain(self, capacity: int) -> bytearray:
        for place, spare in enumerate(self._spares):
            if len(spare) == capacity and not _is_held(spare):
                return self._spares.pop(place)
        return bytearray(capacity)

    def _move_to_front(self) -> None:
        rest = self._end - self._start
        self._view[:rest] = self._view[self._start : self._end]
        self._start = 0
        self._end = rest


def _is_held(buffer: bytearray) -> bool:
    """Whether views of a buffer exist: Python resizes it only when there are none."""
    try:
        last = buffer.pop()
    except BufferError:
        return True
    buffer.append(last)
    return False
