"""An operation that completes exactly once: when its condition holds, or on timeout."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from ballast.purgatory.timing_wheel import WheelEntry


class DelayedOperation(ABC):
    """A delayed operation (Kafka ``DelayedOperation``).

    Subclasses check the condition (`try_complete`), answer the client (`on_complete`), and count
    timeouts (`on_expiration`).
    Invariant: `on_complete` runs at most once, and never after `cancel`.
    """

    def __init__(self, timeout_ms: int) -> None:
        """Make an operation that may wait ``timeout_ms`` from when it is watched."""
        self.timeout_ms = timeout_ms
        self.is_completed = False
        """Whether `on_complete` has run (or is running), or never will: it was cancelled."""
        self._timer: WheelEntry[DelayedOperation] | None = None
        self._unwatch: Callable[[DelayedOperation], None] | None = None

    @abstractmethod
    def try_complete(self) -> bool:
        """Check the condition; if it holds return ``self.force_complete()``, else False."""

    @abstractmethod
    def on_complete(self) -> None:
        """Answer with what is available now. Called exactly once."""

    def on_expiration(self) -> None:  # noqa: B027  # most operations have nothing to add
        """Note that time ran out; called after `on_complete`."""

    def force_complete(self) -> bool:
        """Complete now, whatever the condition; return False if that had happened already."""
        if self.is_completed:
            return False
        self.is_completed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.on_complete()
        return True

    def expire(self) -> None:
        """Complete because time is up, unless it is completed already."""
        if self.force_complete():
            self.on_expiration()

    def cancel(self) -> bool:
        """End without a result, since the client is gone; return False if it was completed.

        The purgatory has no reference to the operation any more.
        """
        if self.is_completed:
            return False
        self.is_completed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._unwatch is not None:
            self._unwatch(self)
            self._unwatch = None
        return True

    def start_timer(
        self,
        timer: WheelEntry["DelayedOperation"],
        unwatch: Callable[["DelayedOperation"], None],
    ) -> None:
        """Hold the timer and what takes the operation out of watch lists. For the purgatory."""
        self._timer = timer
        self._unwatch = unwatch
