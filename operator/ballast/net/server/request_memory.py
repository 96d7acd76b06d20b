"""The bytes of requests that are being read, and the connections that wait for room. No I/O.

Kafka's ``queued.max.request.bytes`` (KIP-72). A request takes its size when its length is known,
and returns it when it was handled: its bytes are not referenced after that, however long the
response takes. As in Kafka, a request is admitted while any byte is free, however large it is, so
that each is admitted in the end and at most one goes beyond the bound.
"""

from collections.abc import Callable


class RequestMemory:
    """The bytes taken of one bound, and the connections that wait, in order of arrival."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._held = 0
        self._waiting: dict[int, Callable[[], None]] = {}

    @property
    def held(self) -> int:
        """Bytes of the requests that are being read."""
        return self._held

    def take(self, size: int) -> bool:
        """Take room for a request of ``size`` bytes; return False if there is none."""
        if self._held >= self._bound:
            return False
        self._held += size
        return True

    def give_back(self, size: int) -> None:
        """Return room, and call the connections that wait for it."""
        self._held -= size
        if self._held < self._bound:
            waiting, self._waiting = self._waiting, {}
            for try_again in waiting.values():
                try_again()

    def wait(self, connection_id: int, try_again: Callable[[], None]) -> None:
        """Call ``try_again`` once when there may be room; it must not raise."""
        self._waiting[connection_id] = try_again

    def forget(self, connection_id: int) -> None:
        """Remove a connection that does not wait any more."""
        self._waiting.pop(connection_id, None)
