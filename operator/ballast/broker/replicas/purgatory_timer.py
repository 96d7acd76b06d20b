"""One timer of the event loop for several purgatories."""

import asyncio
from typing import Any

from ballast.purgatory.purgatory import Purgatory


class PurgatoryTimer:
    """Makes purgatories and expires what waits in them in time.

    Needs a running event loop from the start.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.now = self._loop.time
        """Returns the time that the purgatories go by, in seconds."""
        self._timer: asyncio.Handle | None = None
        self._fires_at = 0.0
        """When the present timer fires. uvloop's handle of an immediate timer does not say."""
        self._purgatories: list[Purgatory[Any]] = []

    def purgatory(self) -> Purgatory[Any]:
        """Return a new purgatory that this timer drives."""
        made: Purgatory[Any] = Purgatory(self.now(), on_earlier_expiry=self._arm)
        self._purgatories.append(made)
        return made

    def shut_down(self) -> None:
        """Answer everything that waits."""
        for purgatory in self._purgatories:
            purgatory.shut_down()
        self._arm()

    def _arm(self) -> None:
        expiry = min(
            (
                expiry
                for purgatory in self._purgatories
                if (expiry := purgatory.next_expiry()) is not None
            ),
            default=None,
        )
        if self._timer is not None:
            if expiry is not None and self._fires_at <= expiry:
                # It fires too early for what waits by now, and is armed again then: waits that
                # follow one another closely cost no timer each.
                return
            self._timer.cancel()
            self._timer = None
        if expiry is not None:
            self._fires_at = expiry
            self._timer = self._loop.call_at(expiry, self._advance)

    def _advance(self) -> None:
        self._timer = None
        now = self.now()
        for purgatory in self._purgatories:
            purgatory.advance(now)
        self._arm()
