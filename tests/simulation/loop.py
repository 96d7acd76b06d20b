"""An asyncio event loop under a seed: virtual time, in-memory network, hosts that can be killed.

The code under test uses plain asyncio: servers, connections, protocols, timers, tasks, executors.
It does not know that it is simulated, and the same seed gives the same run:

- *Time* moves only when nothing is ready, straight to the next timer.
- *Order* is asyncio's own: callbacks run first in, first out, one per step; after each step
  `SimulatedLoop.after_step` is called, for the invariants.
- *Chance* comes from ``loop.random`` alone. Nothing may iterate over sets of objects or of strings
  where the order matters, and there are no threads.
- *Hosts*: see `hosts`. A killed host's callbacks are dropped, a paused one's are kept for later.
"""

import asyncio
import contextvars
import heapq
import inspect
import random
from asyncio import base_events, events
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tests.simulation.hosts import HOST, OUTSIDE, Host
from tests.simulation.network import Network, SimulatedServer
from tests.simulation.trace import Trace

T = TypeVar("T")

EXECUTOR_DELAY_MAX_S = 0.001
"""Work given to an executor is done at a random time up to this later."""


TASKS_BETWEEN_SWEEPS = 2000
CLOSE_ATTEMPTS_MAX = 20


class Deadlock(Exception):
    """Nothing is ready and no timer is armed, but the main coroutine has not ended."""


class TooManySteps(Exception):
    """The run does not come to its end."""


class SimulatedLoop(base_events.BaseEventLoop):
    """An event loop with a seed; see the module."""

    def __init__(self, seed: int, *, max_steps: int = 5_000_000) -> None:
        super().__init__()
        self.seed = seed
        self.random = random.Random(seed)
        self.now = 0.0
        self.steps = 0
        self.max_steps = max_steps
        self.trace = Trace()
        self.network = Network(self)
        self.after_step: Callable[[], None] | None = None
        self.unhandled: list[str] = []
        """What asyncio would have logged as an unhandled exception."""
        # BaseEventLoop's own queue, which typeshed does not show.
        self._ready_handles: deque[events.Handle] = self._ready  # type: ignore[attr-defined]
        self._timers: list[tuple[float, int, Any]] = []
        """Heap of moment, order of arming, timer."""
        self._armed = 0
        self._parked: dict[Host, list[events.Handle]] = {}
        self.last_host = OUTSIDE
        """The host of the callback that ran last."""
        self._stop_with: BaseException | None = None
        self.is_ending = False
        self._tasks: list[asyncio.Task[Any]] = []
        self._tasks_until_sweep = TASKS_BETWEEN_SWEEPS
        self.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self.set_exception_handler(self._keep_unhandled)

    # -- time and steps -------------------------------------------------------------------------

    def time(self) -> float:
        """Return virtual seconds since the run began."""
        return self.now

    def _run_once(self) -> None:
        # One callback per call, unlike asyncio's batches: the order is the same, and the
        # invariants are checked in between.
        if self._stop_with is not None:
            raise self._stop_with
        ready = self._ready_handles
        if not ready:
            self._advance()
        handle: Any = ready.popleft()
        if not handle._cancelled:
            host = handle._context.get(HOST, OUTSIDE)
            if not host.is_dead and not host.is_paused:
                self.last_host = host
                handle._run()
                self.steps += 1
                if self.after_step is not None:
                    self.after_step()
                if self.steps > self.max_steps:
                    raise TooManySteps(f"{self.steps} steps, {self.now:.3f} s")
            elif host.is_paused:
                self._parked.setdefault(host, []).append(handle)

    def _advance(self) -> None:
        """Move the clock to the next timer, and queue those of that moment."""
        timers = self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        if not timers:
            raise Deadlock(f"nothing left to do at {self.now:.3f} s")
        self.now = max(self.now, timers[0][0])
        while timers and timers[0][0] <= self.now:
            timer = heapq.heappop(timers)[2]
            if not timer._cancelled:
                self._ready_handles.append(timer)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        # `_advance` drops cancelled timers when they come up.
        pass

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        """Arm a timer; those of the same moment fire in the order in which they were armed."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._armed += 1
        heapq.heappush(self._timers, (when, self._armed, timer))
        return timer

    def call_soon_threadsafe(self, *args: Any, **kwargs: Any) -> events.Handle:  # type: ignore[override]
        """Call soon: there is one thread."""
        return self.call_soon(*args, **kwargs)

    def _process_events(self, event_list: object) -> None:
        raise AssertionError(f"there is no selector to report {event_list}")

    def _write_to_self(self) -> None:
        pass

    # -- what asyncio offers to the code under test ---------------------------------------------

    def run_in_executor(  # type: ignore[override]
        self, executor: object, func: Callable[..., T], *args: Any
    ) -> Any:
        """Do the work a moment later, on this thread; not at all if the host dies before."""
        del executor
        future: asyncio.Future[T] = self.create_future()

        def work() -> None:
            if future.done():
                return
            try:
                future.set_result(func(*args))
            except Exception as error:  # noqa: BLE001 - the caller of the executor gets it
                future.set_exception(error)

        self.call_later(self.random.uniform(0, EXECUTOR_DELAY_MAX_S), work)
        return future

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: object = None,
        port: int | None = None,
        *,
        start_serving: bool = True,
        **_: object,
    ) -> SimulatedServer:
        """Listen on a port of the host that the calling code belongs to."""
        del host
        return self.network.listen(protocol_factory, port or 0, is_serving=start_serving)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int | None = None,
        **_: object,
    ) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect from the host that the calling code belongs to; raises `OSError`."""
        assert host is not None
        assert port is not None
        return await self.network.connect(protocol_factory, host, port)

    def note(self, text: str) -> None:
        """Write into the trace what the running host does."""
        self.trace.add(self.now, HOST.get().name, text)

    def stop_soon(self, failure: BaseException) -> None:
        """End the run with ``failure`` instead of its next step."""
        self._stop_with = failure

    # -- hosts ----------------------------------------------------------------------------------

    def start(self, host: Host, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine on a host."""
        return self.create_task(coroutine, context=host.context(), name=host.name)

    def kill(self, host: Host) -> None:
        """SIGKILL: nothing of the host runs any more; its peers see their connections reset."""
        self.trace.add(self.now, host.name, "killed")
        host.is_dead = True
        self._parked.pop(host, None)
        self.network.drop_host(host)

    def pause(self, host: Host) -> None:
        """SIGSTOP: callbacks of the host wait until `resume`."""
        self.trace.add(self.now, host.name, "paused")
        host.is_paused = True

    def resume(self, host: Host) -> None:
        """SIGCONT: what was due meanwhile runs now, in the order in which it came due."""
        if host.is_paused and not host.is_dead:
            self.trace.add(self.now, host.name, "resumed")
            host.is_paused = False
            self._ready_handles.extend(self._parked.pop(host, []))

    def _make_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Coroutine[Any, Any, T],
        *,
        context: contextvars.Context | None = None,
    ) -> asyncio.Task[T]:
        # Every task is held, so that none is finalized when the garbage collector pleases: that
        # would run `finally` blocks of killed hosts, and at another moment in each run.
        task = asyncio.Task(coroutine, loop=loop, context=context)
        self._tasks.append(task)
        if len(self._tasks) >= self._tasks_until_sweep:
            self._tasks = [held for held in self._tasks if not held.done()]
            self._tasks_until_sweep = len(self._tasks) + TASKS_BETWEEN_SWEEPS
        return task

    def _keep_unhandled(self, loop: object, context: dict[str, Any]) -> None:
        del loop
        if self.is_ending:
            return
        error = context.get("exception")
        # Not in the trace: the collector decides when an exception counts as never retrieved.
        where = f"{self.now:.4f} {HOST.get().name}"
        self.unhandled.append(f"{where}: {context.get('message')}: {error!r}")

    def end(self) -> None:
        """Throw away whatever still runs, without a word; then close the loop."""
        self.is_ending = True
        self.after_step = None
        for task in self._tasks:
            if not task.done():
                _discard(task)
        self._tasks.clear()
        self._ready_handles.clear()
        self._timers.clear()
        self._parked.clear()
        self.close()


def run(
    seed: int, main: Callable[[SimulatedLoop], Coroutine[Any, Any, T]], **options: Any
) -> tuple[T, SimulatedLoop]:
    """Run ``main(loop)`` to its end in virtual time; the same seed gives the same run."""
    loop = SimulatedLoop(seed, **options)
    return run_in(loop, main(loop)), loop


def run_in(loop: SimulatedLoop, main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` in a new loop to its end, then end the loop."""
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        asyncio.set_event_loop(None)
        loop.end()


def _discard(task: asyncio.Task[Any]) -> None:
    """Unwind a task that will never run again, whatever its clean-up thinks of that."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    coroutine = task.get_coro()
    _discard_arguments(coroutine)
    for _ in range(CLOSE_ATTEMPTS_MAX):
        try:
            coroutine.close()
        except BaseException:  # noqa: BLE001, S112 - clean-up that awaits has to be closed again
            continue
        return


def _discard_arguments(coroutine: Any) -> None:
    """Close the coroutines that one which never began was to await: nobody else will."""
    # The end of an asynchronous generator is a coroutine too, but of another type.
    is_of_function = inspect.iscoroutine(coroutine)
    if not is_of_function or inspect.getcoroutinestate(coroutine) != inspect.CORO_CREATED:
        return
    for argument in list(coroutine.cr_frame.f_locals.values()):
        if inspect.iscoroutine(argument):
            _discard_arguments(argument)
            argument.close()
