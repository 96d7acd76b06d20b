"""A cluster that ``ballast up`` runs as child processes, for tests that need the whole program."""

import os
import random
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ballast.embedded.layout import ClusterLayout

ROOT = Path(__file__).parent.parent.parent
START_TIMEOUT_S = 90
START_ATTEMPTS = 3


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


def environment() -> dict[str, str]:
    """Return the environment in which the program runs from the source tree."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "operator"), "PYTHONUNBUFFERED": "1"}


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
def running_cluster(directory: Path, *arguments: str) -> Iterator[RunningCluster]:
    """Run ``ballast up`` until the block ends, then stop it as a person would, with SIGINT."""
    process, bootstrap_servers = _started(directory, arguments)
    with process:
        try:
            yield RunningCluster(process, directory, bootstrap_servers)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _started(directory: Path, arguments: Sequence[str]) -> tuple[subprocess.Popen[str], str]:
    """Start the cluster; again where another process has taken one of its ports meanwhile."""
    for _ in range(START_ATTEMPTS):
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "ballast", "up"),
                *("--dir", str(directory), "--base-port", str(free_port_range()), *arguments),
            ],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        bootstrap_servers = _bootstrap_servers(process)
        if bootstrap_servers is not None:
            return process, bootstrap_servers
        process.communicate(timeout=START_TIMEOUT_S)
    raise AssertionError(f"ballast up ended with {process.returncode} {START_ATTEMPTS} times")


def _bootstrap_servers(process: subprocess.Popen[str]) -> str | None:
    """Read the program's output up to the line that says where the cluster is; None = it ended."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while selector.select(START_TIMEOUT_S):
            line = process.stdout.readline()
            if line.startswith("bootstrap.servers="):
                return line.strip().removeprefix("bootstrap.servers=")
            if not line:
                return None
    process.kill()
    raise AssertionError(f"no cluster within {START_TIMEOUT_S} s")


def free_port() -> int:
    """Return a port that is free by now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def free_port_range() -> int:
    """Return a base port such that the ports a cluster of up to five brokers uses are free by now.

    It lies below the ports that the system gives to outgoing connections.
    """
    chance = random.SystemRandom()
    while True:
        base = chance.randrange(12_000, 32_000, 200)
        layout = ClusterLayout(
            directory=Path(), brokers=5, controllers=3, base_port=base, overrides={}
        )
        if all(_is_free(port) for port in layout.ports):
            return base


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
