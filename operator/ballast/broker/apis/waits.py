"""Requests that wait on behalf of their connections: no longer, and no more, than they may."""

from functools import partial
from typing import Any, Final

from ballast.broker.apis.responses import DelayedResponse
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.shares import Holder, WaitShares

CAPACITY: Final = 100_000
"""Requests of all clients that may wait at once before connections are held to their shares."""


class Waits:
    """Binds delayed operations to the connections that asked for them.

    A connection's end cancels its operations. Beyond its share (`WaitShares`) a connection's
    operation ends at once as if its time were up, so that a flood costs its sender the waiting and
    nobody else.
    """

    def __init__(self, max_idle_ms: int, capacity: int = CAPACITY) -> None:
        """Make it; ``max_idle_ms`` is connections.max.idle.ms."""
        self._longest_ms = max_idle_ms * 3 // 5
        self.shares = WaitShares(capacity)
        self.refused = 0
        """Operations that were ended at once."""

    def timeout_ms(self, asked_ms: int) -> int:
        """Return for how long a request may wait that asks for ``asked_ms``.

        At most three fifths of connections.max.idle.ms: the client hears of the end before its
        connection, which brings nothing meanwhile, counts as idle. What a client sent in advance
        and vanished waits once more at most: two such waits are longer than that time.
        """
        return max(0, min(asked_ms, self._longest_ms))

    def bind(
        self, holder: Holder, operation: DelayedOperation, answer: DelayedResponse[Any]
    ) -> None:
        """Have an operation that waits by now end with its connection."""
        if operation.is_completed:
            return
        if not self.shares.begin(holder):
            self.refused += 1
            operation.expire()
            return
        answer.when_over(
            ended=partial(self.shares.end, holder),
            abandoned=operation.cancel,
        )
