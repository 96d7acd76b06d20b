"""Bounds the requests that wait: how long, and how many of a connection."""

from functools import partial
from typing import Any, Final

from ballast.broker.apis.responses import DelayedResponse
from ballast.purgatory.operation import DelayedOperation
from ballast.purgatory.shares import Holder, WaitShares

CAPACITY: Final = 100_000
"""Waiting requests of all clients, above which a connection may only have its share."""


class Waits:
    """Binds delayed operations to their connections.

    The end of a connection cancels its operations. Beyond its share (`WaitShares`) an operation of
    a connection completes at once, as at its timeout: a client that sends too many loses the
    waiting, and others are not affected.
    """

    def __init__(self, max_idle_ms: int, capacity: int = CAPACITY) -> None:
        """Make it; ``max_idle_ms`` is connections.max.idle.ms."""
        self._longest_ms = max_idle_ms * 3 // 5
        self.shares = WaitShares(capacity)
        self.refused = 0
        """Operations that were completed at once."""

    def timeout_ms(self, asked_ms: int) -> int:
        """Return for how long a request with a timeout of ``asked_ms`` may wait.

        At most three fifths of connections.max.idle.ms: the response is sent before the connection,
        on which nothing arrives meanwhile, counts as idle. Of requests that a client sent before it
        vanished, at most one more waits: two such waits are longer than that time.
        """
        return max(0, min(asked_ms, self._longest_ms))

    def bind(
        self, holder: Holder, operation: DelayedOperation, answer: DelayedResponse[Any]
    ) -> None:
        """Make an operation that waits end with its connection."""
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
