"""A thread with an event loop of its own, and a heartbeat that shows that the loop runs.

kopf runs in one: kopf cancels every task of its loop when it ends, and a stalled reconciler must
prevent neither the renewal of the Lease nor the heartbeats of ZooKeeper sessions.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from time import monotonic
from typing import Any, Final

BEAT_S: Final = 5.0

Work = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""The coroutine of the thread; it ends once the event is set."""
LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class LoopThread:
    """Runs one coroutine. Its methods are called from outside the thread."""

    def __init__(self, work: Work, *, name: str, loop_factory: LoopFactory) -> None:
        self._work = work
        self._loop_factory = loop_factory
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = threading.Event()
        self._stopped_in_loop = asyncio.Event()
        self._outcome: Future[None] = Future()
        self._beat_at = monotonic()
        # A daemon: a process that has to end at once does not wait for it.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._beat_at = monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Ask the coroutine to end."""
        self._stopped.set()
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # The loop is closed: the work has ended.
                loop.call_soon_threadsafe(self._stopped_in_loop.set)

    async def ended(self) -> None:
        """Wait for the end of the coroutine; raises its error."""
        await asyncio.shield(asyncio.wrap_future(self._outcome))

    @property
    def has_ended(self) -> bool:
        """Whether the coroutine has ended."""
        return self._outcome.done()

    @property
    def silence_s(self) -> float:
        """The seconds since the last heartbeat of the loop."""
        return monotonic() - self._beat_at

    def _run(self) -> None:
        runner = asyncio.Runner(loop_factory=self._loop_factory)
        try:
            runner.run(self._beating())
        except BaseException as error:  # noqa: BLE001 - raised by `ended`
            self._outcome.set_exception(error)
        else:
            self._outcome.set_result(None)
        # After the result is set: closing waits for threads, of which one may look up a name.
        runner.close()

    async def _beating(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._stopped.is_set():
            self._stopped_in_loop.set()
        self._beat()
        await self._work(self._stopped_in_loop)

    def _beat(self) -> None:
        self._beat_at = monotonic()
        assert self._loop is not None
        self._loop.call_later(BEAT_S, self._beat)
