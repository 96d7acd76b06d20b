"""The bytes of requests that are being read, and the connections that wait for room. No I/O.

Kafka's ``queued.max.request.bytes`` (KIP-72): a request takes its size when its length is known. It
gives it back when it is complete and was handled: nothing refers to its bytes then, however long
its answer takes. As in Kafka, a request is let in while anything is free, however large it is, so
that each gets room in the end and one request at most goes beyond the bound.
"""

from collections.abc import Callable


class RequestMemory:
    """What is held of one bound, and who waits, in the order in which they came."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._held = 0
        self._waiting: dict[int, Callable[[], None]] = {}

    @property
    def held(self) -> int:
        """Bytes of the requests that are being read."""
        return self._held

    def take(self, size: int) -> bool:
        """Take room for a request of ``size`` bytes; return whether there was any."""
        if self._held >= self._bound:
            return False
        self._held += size
        return True

    def give_back(self, size: int) -> None:
        """Give back room, and tell those that wait for it to try again."""
        self._held -= size
        if self._held < self._bound:
            waiting, self._waiting = self._waiting, {}
            for try_again in waiting.values():
                try_again()

    def wait(self, connection_id: int, try_again: Callable[[], None]) -> None:
        """Have ``try_again`` called, once, when there may be room; it must not raise."""
        self._waiting[connection_id] = try_again

    def forget(self, connection_id: int) -> None:
        """Drop a connection that waits no more."""
        self._waiting.pop(connection_id, None)
