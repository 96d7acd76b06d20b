"""Real ZooKeeper servers on the loopback, each with `ballast zookeeper` beside it, as in pods."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient

from ballast.ensemble import asking
from ballast.ensemble.decisions import Report
from ballast.ensemble.settings import Addresses

READY_TIMEOUT_S = 60.0
POLL_S = 0.2


class Servers:
    """The servers of one ensemble: what Kubernetes would start, stop and give disks to."""

    def __init__(self, folder: Path, subnet: int, base_port: int) -> None:
        """Use the loopback addresses 127.0.<subnet>.1<ordinal>, so that ports are the same."""
        self.folder = folder
        self.addresses = Addresses(
            host_pattern=f"127.0.{subnet}.1{{ordinal}}",
            client_port=base_port,
            peer_port=base_port + 1,
            election_port=base_port + 2,
            http_port=base_port + 3,
            is_listening_everywhere=False,
        )
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self._beside: list[subprocess.Popen[bytes]] = []
        self._clients: list[Any] = []
        self.set_replicas(1)

    def set_replicas(self, count: int) -> None:
        """Change how many servers there shall be, as the ConfigMap in the pods does."""
        (self.folder / "replicas").write_text(f"{count}\n")

    def disk(self, ordinal: int) -> Path:
        return self.folder / f"disk-{ordinal}"

    def start(self, *ordinals: int) -> None:
        places = self.addresses
        ports = (places.client_port, places.peer_port, places.election_port, places.http_port)
        for ordinal in ordinals:
            words = (
                "zookeeper",
                f"--data-dir={self.disk(ordinal)}",
                f"--host-pattern={places.host_pattern}",
                f"--replicas-file={self.folder / 'replicas'}",
                f"--ports={','.join(str(port) for port in ports)}",
                "--no-listen-everywhere",
                "--heap-percentage=10",
            )
            with (self.folder / f"log-{ordinal}").open("ab") as log:
                self.processes[ordinal] = subprocess.Popen(
                    (sys.executable, "-m", "ballast", *words),
                    env={**os.environ, "POD_NAME": f"zk-{ordinal}"},
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )

    def kill(self, *ordinals: int) -> None:
        """End both processes of each server at once, as a lost node does."""
        for ordinal in ordinals:
            process = self.processes.pop(ordinal)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def stop(self, ordinal: int) -> int:
        """End a server as Kubernetes does, and return its exit code."""
        process = self.processes.pop(ordinal)
        process.terminate()
        return process.wait(timeout=30)

    def empty_disk(self, ordinal: int) -> None:
        shutil.rmtree(self.disk(ordinal))

    def run_beside(self, argv: Sequence[str]) -> subprocess.Popen[bytes]:
        """Run another program, which ends with the test at the latest."""
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._beside.append(process)
        return process

    def close(self) -> None:
        # A client whose servers are gone would try to connect for as long as the tests run.
        for client in self._clients:
            client.stop()
            client.close()
        self.kill(*tuple(self.processes))
        for process in self._beside:
            process.kill()
            process.wait()

    @property
    def connect(self) -> str:
        hosts = [self.addresses.host(number) for number in range(1, 6)]
        return ",".join(f"{host}:{self.addresses.client_port}" for host in hosts)

    def client(self, ordinal: int | None = None) -> Any:
        """Return a started client, of one server or of all."""
        hosts = self.connect
        if ordinal is not None:
            hosts = f"{self.addresses.host(ordinal + 1)}:{self.addresses.client_port}"
        client: Any = KazooClient(hosts, timeout=6.0)
        self._clients.append(client)
        client.start(timeout=30)
        return client

    def reports(self, count: int) -> dict[int, Report]:
        return asyncio.run(asking.reports(self.addresses, range(1, count + 1)))

    async def wait_for_voters(self, count: int) -> None:
        """Return once so many servers take sessions, and all know so many voters."""
        async with asyncio.timeout(READY_TIMEOUT_S):
            while True:
                found = await asking.reports(self.addresses, range(1, count + 1))
                serving = [report for report in found.values() if report.mode]
                if len(serving) == count and all(
                    report.list and len(report.list.ids) == count for report in serving
                ):
                    return
                await asyncio.sleep(POLL_S)

    def answer(self, ordinal: int) -> str | None:
        """Return what a server answers to ``srvr``; it is "not serving" without a majority."""
        host, port = self.addresses.host(ordinal + 1), self.addresses.client_port
        return asyncio.run(asking.four_letter_word(host, port, "srvr"))

    def metrics(self, ordinal: int) -> str:
        host, port = self.addresses.host(ordinal + 1), self.addresses.http_port
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=5) as answer:
            text: bytes = answer.read()
        return text.decode()

    def is_waiting(self, ordinal: int) -> bool:
        """Whether a server has asked the others, and does not start yet."""
        return "waiting: " in (self.folder / f"log-{ordinal}").read_text()

    def is_ready(self, ordinal: int) -> bool:
        host, port = self.addresses.host(ordinal + 1), self.addresses.http_port
        try:
            with urllib.request.urlopen(f"http://{host}:{port}/readyz", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


def eventually(what: str, look: Callable[[], bool]) -> None:
    """Return once ``look`` is true; raises `AssertionError` after a minute."""
    end = time.monotonic() + READY_TIMEOUT_S
    while not look():
        assert time.monotonic() < end, what
        time.sleep(POLL_S)
