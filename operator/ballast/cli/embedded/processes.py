"""Child processes: started, watched, started again when they die, stopped.

Each child has a log file, and a pid file, so that other processes can signal it. A child that dies
is reported and started again after a delay. The delay doubles up to `RESTART_DELAY_MAX_S`; it is
reset once the child has run for that long.
"""

import asyncio
import ctypes
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

RESTART_DELAY_MIN_S = 0.2
RESTART_DELAY_MAX_S = 10.0
STOP_GRACE_S = 30.0

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSpec:
    """What to start and where its traces go."""

    name: str
    argv: tuple[str, ...]
    pid_path: Path
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the child."""


class Child:
    """One running child; replaced under the same name when it is started again."""

    def __init__(self, spec: ChildSpec, process: asyncio.subprocess.Process) -> None:
        self.spec = spec
        self.process = process
        self.stopping = False
        self.starting = asyncio.Lock()
        """Held while the next incarnation is made, so that none is made behind a stop's back."""

    @property
    def pid(self) -> int:
        """The process id of the present incarnation."""
        return self.process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the present incarnation runs."""
        return self.process.returncode is None


class Supervisor:
    """Owns children. Use as an async context manager; leaving it kills what is left."""

    def __init__(self, *, restart: bool, report: Callable[[str], None]) -> None:
        self._restart = restart
        self._report = report
        self._children: dict[str, Child] = {}
        self._tasks = asyncio.TaskGroup()
        self._watchers: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> "Supervisor":
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        for child in self._children.values():
            await self._end(child, signal.SIGKILL)
        for watcher in self._watchers:
            watcher.cancel()
        await self._tasks.__aexit__(None, None, None)

    async def start(self, spec: ChildSpec) -> Child:
        """Start a child and watch over it."""
        child = Child(spec, await _spawn(spec))
        self._children[spec.name] = child
        self._watchers.append(self._tasks.create_task(self._watch(child)))
        return child

    async def stop(self, name: str, *, grace_s: float = STOP_GRACE_S) -> None:
        """Stop a child with SIGTERM; kill it when it has not ended within ``grace_s``."""
        child = self._children[name]
        child.stopping = True
        await self._end(child, signal.SIGTERM, grace_s)

    def has(self, name: str) -> bool:
        """Return whether a child of that name was started."""
        return name in self._children

    def child(self, name: str) -> Child:
        return self._children[name]

    async def _end(self, child: Child, how: signal.Signals, grace_s: float = 5.0) -> None:
        child.stopping = True
        async with child.starting:
            pass
        if child.is_alive:
            child.process.send_signal(how)
            try:
                async with asyncio.timeout(grace_s):
                    await child.process.wait()
            except TimeoutError:
                self._report(f"{child.spec.name} did not end within {grace_s:g} s and is killed")
                child.process.kill()
                await child.process.wait()
        child.spec.pid_path.unlink(missing_ok=True)

    async def _watch(self, child: Child) -> None:
        loop = asyncio.get_running_loop()
        delay_s = RESTART_DELAY_MIN_S
        while True:
            started = loop.time()
            code = await child.process.wait()
            if child.stopping:
                return
            child.spec.pid_path.unlink(missing_ok=True)
            outcome = _describe(code)
            if not self._restart:
                self._report(f"{child.spec.name} died ({outcome})")
                return
            if loop.time() - started > RESTART_DELAY_MAX_S:
                delay_s = RESTART_DELAY_MIN_S
            self._report(f"{child.spec.name} died ({outcome}); started again in {delay_s:g} s")
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, RESTART_DELAY_MAX_S)
            async with child.starting:
                if child.stopping:
                    return
                child.process = await _spawn(child.spec)


async def _spawn(spec: ChildSpec) -> asyncio.subprocess.Process:
    spec.log_path.parent.mkdir(parents=True, exist_ok=True)
    spec.pid_path.parent.mkdir(parents=True, exist_ok=True)
    with spec.log_path.open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            *spec.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=dict(spec.environment),
            start_new_session=True,  # A Ctrl-C at the terminal reaches the parent alone.
            preexec_fn=partial(_die_with, os.getpid()),
        )
    fresh = spec.pid_path.with_suffix(".new")
    fresh.write_text(f"{process.pid}\n")
    fresh.replace(spec.pid_path)
    return process


def _die_with(parent: int) -> None:
    """Have Linux end the child when its parent is gone, so that none is left behind."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # It went while this child was being made, so no signal will come.
        os._exit(1)


def _describe(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
