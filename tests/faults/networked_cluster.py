"""Brokers, candidates and ZooKeeper as processes with a network namespace each, joined by a bridge.

Everything is made inside one network and mount namespace of its own (`enter`), so that nothing of
it is seen outside and all of it is gone with the last process. The clients' address is the
bridge's.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ballast.cli.embedded import zookeeper
from tests.faults import observation
from tests.interop.local_cluster import ROOT, environment

CLIENTS = "clients"
ZOOKEEPER = "zookeeper"
CLIENTS_ADDRESS = "10.77.0.1"
ZOOKEEPER_PORT = 2181
BROKER_PORT = 9092
CONTROLLER_PORT = 9192
HTTP_PORT = 9292
START_TIMEOUT_S = 180

_INSIDE = "BALLAST_CHAOS_NETWORK"
_SET_UP = 'mount -t tmpfs tmpfs /run && mkdir /run/netns && ip link set lo up && exec "$@"'


class NetworksMissing(Exception):
    """Network namespaces cannot be made here."""


def enter() -> None:
    """Start this program again in a network of its own, unless that has been done.

    Raises `NetworksMissing` when the programs or the rights for that are not there.
    """
    if _INSIDE in os.environ:
        return
    for program in ("unshare", "ip", "iptables", "mount"):
        if shutil.which(program) is None:
            raise NetworksMissing(f"{program} is not on PATH")
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    unshare = [str(shutil.which("unshare")), *user, "--net", "--mount"]
    tried = subprocess.run(
        [*unshare, "sh", "-c", _SET_UP, "sh", "ip", "netns", "add", "tried"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        raise NetworksMissing(f"no network namespaces: {tried.stderr.strip()}")
    # A program run with -m finds itself by its module's name, not by its file's.
    arguments = [sys.executable, "-m", "tests.faults.chaos", *sys.argv[1:]]
    os.environ[_INSIDE] = "entered"
    os.execv(unshare[0], [*unshare, "sh", "-c", _SET_UP, "sh", *arguments])  # noqa: S606


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)  # noqa: S607


class NetworkedCluster:
    """The processes and the links between them; a name is a child's, or `CLIENTS`."""

    def __init__(self, directory: Path, *, brokers: int, controllers: int) -> None:
        self.directory = directory
        self.brokers = [f"broker-{number}" for number in range(1, brokers + 1)]
        self.controllers = [f"controller-{number}" for number in range(1, controllers + 1)]
        names = [ZOOKEEPER, *self.brokers, *self.controllers]
        self.addresses = {name: f"10.77.0.{10 + index}" for index, name in enumerate(names)}
        self.addresses[CLIENTS] = CLIENTS_ADDRESS
        self._commands: dict[str, list[str]] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses, comma-joined."""
        return ",".join(f"{self.addresses[name]}:{BROKER_PORT}" for name in self.brokers)

    @property
    def children(self) -> list[str]:
        """The names of all processes."""
        return [ZOOKEEPER, *self.brokers, *self.controllers]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make the networks, run everything until the block ends, and kill it."""
        self._make_networks()
        self._prepare()
        with ExitStack() as stack:
            stack.callback(self._kill_all)
            for name in self.children:
                self.start(name)
                if name == ZOOKEEPER:
                    asyncio.run(self._wait_for_zookeeper())
            observation.until(
                lambda: all(observation.is_ready(self, name) for name in self.brokers),
                START_TIMEOUT_S,
                "the brokers are ready",
            )
            yield

    async def _wait_for_zookeeper(self) -> None:
        address = self.addresses[ZOOKEEPER]
        await zookeeper.wait_until_serving(ZOOKEEPER_PORT, host=address, timeout_s=START_TIMEOUT_S)

    def pid(self, name: str) -> int:
        """Return a process's id."""
        return self._processes[name].pid

    def is_running(self, name: str) -> bool:
        """Whether a process has been started and has not ended."""
        process = self._processes.get(name)
        return process is not None and process.poll() is None

    def start(self, name: str) -> None:
        """Start a process, unless it runs."""
        if self.is_running(name):
            return
        with (self.directory / "logs" / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                ["ip", "netns", "exec", name, *self._commands[name]],  # noqa: S607
                env=environment(),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self, name: str) -> None:
        """SIGKILL a process and wait until it is gone; it is not started again by itself."""
        process = self._processes[name]
        process.kill()
        process.wait(30)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Signal a process."""
        self._processes[name].send_signal(number)

    def cut(self, sender: str, receiver: str) -> None:
        """Let nothing from ``sender`` reach ``receiver``; the other way stays open."""
        self._filter(receiver, "-A", "INPUT", "-s", self.addresses[sender], "-j", "DROP")

    def mend(self, sender: str, receiver: str) -> None:
        """Undo one `cut`."""
        self._filter(receiver, "-D", "INPUT", "-s", self.addresses[sender], "-j", "DROP")

    def _filter(self, where: str, *rule: str) -> None:
        inside = [] if where == CLIENTS else ["ip", "netns", "exec", where]
        subprocess.run([*inside, "iptables", "-w", *rule], check=True, capture_output=True)

    def _make_networks(self) -> None:
        _ip("link", "add", "bridge", "type", "bridge")
        _ip("addr", "add", f"{CLIENTS_ADDRESS}/24", "dev", "bridge")
        _ip("link", "set", "bridge", "up")
        for number, name in enumerate(self.children):
            _ip("netns", "add", name)
            _ip("link", "add", f"port{number}", "type", "veth", "peer", "eth0", "netns", name)
            _ip("link", "set", f"port{number}", "master", "bridge", "up")
            _ip("-n", name, "addr", "add", f"{self.addresses[name]}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "link", "set", "lo", "up")

    def _prepare(self) -> None:
        for folder in ("logs", "config", "data"):
            (self.directory / folder).mkdir(parents=True, exist_ok=True)
        data = self.directory / "data"
        self._commands[ZOOKEEPER] = zookeeper.command(data / ZOOKEEPER, port=ZOOKEEPER_PORT)
        config = data / ZOOKEEPER / "zoo.cfg"
        listens, address = f"clientPortAddress={zookeeper.HOST}", self.addresses[ZOOKEEPER]
        written = config.read_text()
        assert listens in written
        config.write_text(written.replace(listens, f"clientPortAddress={address}"))
        for number, name in enumerate(self.brokers, start=1):
            self._configure(
                name,
                "broker",
                {
                    "broker.id": str(number),
                    "listeners": f"PLAINTEXT://{self.addresses[name]}:{BROKER_PORT}",
                    "log.dirs": str((data / name).resolve()),
                    "zookeeper.session.timeout.ms": "6000",
                    "offsets.topic.replication.factor": "3",
                    "offsets.topic.num.partitions": "10",
                    "min.insync.replicas": "2",
                    "ballast.load.sample.interval.ms": "0",
                    "auto.create.topics.enable": "true",
                },
            )
        for number, name in enumerate(self.controllers, start=1):
            self._configure(
                name,
                "controller",
                {
                    "controller.id": str(number),
                    "controller.listener": f"{self.addresses[name]}:{CONTROLLER_PORT}",
                    "zookeeper.session.timeout.ms": "4000",
                    "default.replication.factor": "3",
                },
            )

    def _configure(self, name: str, command: str, own: Mapping[str, str]) -> None:
        properties = {
            "zookeeper.connect": f"{self.addresses[ZOOKEEPER]}:{ZOOKEEPER_PORT}",
            "ballast.http.listener": f"{self.addresses[name]}:{HTTP_PORT}",
            **own,
        }
        path = self.directory / "config" / f"{name}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        self._commands[name] = [sys.executable, "-m", "ballast", command, str(path)]

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait(30)
