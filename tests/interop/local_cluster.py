"""A cluster that ``ballast up`` runs as child processes, for tests that need the whole program."""

import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.interop.ports import port_range

ROOT = Path(__file__).parent.parent.parent
START_TIMEOUT_S = 180


@dataclass(frozen=True)
class RunningCluster:
    """What a test needs to know of a running ``ballast up``."""

    process: subprocess.Popen[str]
    directory: Path
    bootstrap_servers: str

    def pid(self, name: str) -> int:
        """Return a child's process id, for example of ``broker-1``."""
        return int((self.directory / "run" / f"{name}.pid").read_text())

    def signal(self, name: str, number: signal.Signals) -> None:
        """Signal a child by its pid file."""
        os.kill(self.pid(name), number)


def environment(python_path: Path | None = None) -> dict[str, str]:
    """Return the environment in which the program runs from the source tree.

    ``python_path`` is a folder that Python looks into first.
    """
    folders = (
        [str(ROOT / "operator")]
        if python_path is None
        else [str(python_path), str(ROOT / "operator")]
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "PYTHONUNBUFFERED": "1"}


def ballast(*arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Run one command of the program to its end."""
    return subprocess.run(
        [sys.executable, "-m", "ballast", *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


@contextmanager
def running_cluster(
    directory: Path, *arguments: str, python_path: Path | None = None
) -> Iterator[RunningCluster]:
    """Run ``ballast up`` until the block ends, then stop it as a person would, with SIGINT.

    The topics are the test's own: the history of load is kept only where ``arguments`` say so.
    """
    with (
        port_range() as base_port,
        subprocess.Popen(
            [
                *(sys.executable, "-m", "ballast", "up"),
                *("--dir", str(directory), "--base-port", str(base_port)),
                *("--override", "ballast.load.sample.interval.ms=0", *arguments),
            ],
            env=environment(python_path),
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            yield RunningCluster(process, directory, _bootstrap_servers(process))
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _bootstrap_servers(process: subprocess.Popen[str]) -> str:
    """Read the program's output up to the line that says where the cluster is."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(START_TIMEOUT_S):
            line = process.stdout.readline()
            if line.startswith("bootstrap.servers="):
                return line.strip().removeprefix("bootstrap.servers=")
            if not line:
                raise AssertionError(f"ballast up ended with {process.wait(10)}")
    raise AssertionError(f"no cluster within {START_TIMEOUT_S} s")
