"""A connection's receive buffer: cuts the byte stream into length-prefixed frames. No I/O.

Goals: a frame lies in one piece and is never copied; a steady sender of large frames costs no
allocation; a length that is only claimed costs nothing.
Constraints: memory is at most twice what has arrived (plus a small start), because capacity only
doubles when it is full; a view handed out is overwritten by later reads.
Algorithm: at the start of a frame as much is offered for reading as the last frame took; once a
large frame's length is known exactly its rest is offered, so that the next one begins at the
front of the buffer again. Small frames are read many at a time, and what is left of the last one
moves to the front.
"""

from struct import Struct

from ballast.net.errors import MalformedFrame

INITIAL_CAPACITY = 4 * 1024
READ_AHEAD = 256 * 1024
"""How much is read at once, when it comes, without knowing that a frame is that large."""

MAX_SPARES = 2

_LENGTH = Struct(">i")
_NOTHING = memoryview(bytearray())


class FrameBuffer:
    """Bytes as they come, frames as they are complete."""

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
        """Buffers given away, to be used again once nobody holds views of them."""
        self._capacity = 0
        """Of the buffer there is, or of the one to be made when bytes come."""
        self._start = 0
        self._end = 0
        self._needed = 0
        """Whole size of the incomplete frame at the start; 0 = not known."""
        self._window = READ_AHEAD
        self._full = False
        self._used = False
        self._largest = 0
        self.is_at_end = True
        """Whether the last frame taken was followed by nothing when it was taken."""

    @property
    def pending(self) -> int:
        """Bytes that came and are in no frame taken yet."""
        return self._end - self._start

    @property
    def announced(self) -> int | None:
        """The length of the frame at the start; None if it is not known, or not legal."""
        if self._end - self._start < 4:
            return None
        (size,) = _LENGTH.unpack_from(self._view, self._start)
        return size if self._min_frame_bytes <= size <= self._max_frame_bytes else None

    @property
    def capacity(self) -> int:
        """Bytes that the buffer holds in memory."""
        return len(self._view)

    def writable(self) -> memoryview:
        """Return room for the next read: never empty, its size earned by what came before."""
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
        """Take note that ``size`` bytes were put into the room last offered."""
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
        """Leave the buffer to whoever holds views of it; later bytes go into another one.

        It is used again when the last of those views is gone.
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
        """Give back what was not used since the last trim; called now and then."""
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
        """Move to another buffer; the old one is not resized, because the loop may hold it."""
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
