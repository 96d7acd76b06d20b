"""What is seen of a running cluster from outside: metrics, memory, logs, throttles."""

import asyncio
import time
import urllib.request
from collections.abc import Callable, Collection, Coroutine, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from ballast.model.ids import TopicPartition
from ballast.model.topics import OFFSETS_TOPIC
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import parse_bootstrap_servers
from ballast.reassign.ports import ClusterUnavailable, ClusterView
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
)

Answer = TypeVar("Answer")
Throttles = Mapping[str, Mapping[str, str]]
"""What is set, by topic or ``broker-N``."""


class Cluster(Protocol):
    """A running cluster: by ``ballast up``, or with a network for each process."""

    @property
    def directory(self) -> Path:
        """Where ``config`` and ``logs`` are."""

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses."""

    def pid(self, name: str) -> int:
        """Return a child's process id."""


def metrics(cluster: Cluster, name: str) -> str:
    """Return a child's metrics, empty while it cannot be asked."""
    try:
        with urllib.request.urlopen(f"http://{_http(cluster, name)}/metrics", timeout=2) as answer:
            body: bytes = answer.read()
            return body.decode()
    except OSError:
        return ""


def _http(cluster: Cluster, name: str) -> str:
    path = cluster.directory / "config" / f"{name}.properties"
    properties = dict(line.split("=", 1) for line in path.read_text().splitlines())
    listener: str = properties["ballast.http.listener"]
    return listener


def gauge(text: str, name: str) -> float:
    """Return one gauge of `metrics`; infinite when it is not there."""
    for line in text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    return float("inf")


def names(cluster: Cluster, kind: str) -> list[str]:
    """Return the children of a kind, ``broker`` or ``controller``."""
    return sorted(path.stem for path in (cluster.directory / "config").glob(f"{kind}-*"))


def active_controller(cluster: Cluster) -> str:
    """Return the candidate that says that it is the controller."""
    found: list[str] = []

    def is_known() -> bool:
        found[:] = [
            name
            for name in names(cluster, "controller")
            if gauge(metrics(cluster, name), "ballast_controller_active") == 1
        ]
        return len(found) == 1

    until(is_known, 30, "one candidate is active")
    return found[0]


def is_in_sync(cluster: Cluster, partitions: int) -> bool:
    """Whether all partitions are led, by registered brokers, with every replica in sync.

    ``partitions`` are the topics' own; the topic of groups, which is made when a client first asks
    for a coordinator, is looked at too. Replicas that a move adds do not count until they are
    complete.
    """
    brokers = [metrics(cluster, name) for name in names(cluster, "broker")]
    leaders = sum(gauge(text, "ballast_broker_leader_count") for text in brokers)
    missing = sum(gauge(text, "ballast_broker_under_replicated_partitions") for text in brokers)
    ready = all(is_certain(cluster, name) for name in names(cluster, "broker"))
    if not ready or missing:
        return False
    try:
        known = _asked(cluster, _all_partitions)
    except ClusterUnavailable:
        return False
    own = sum(tp.topic != OFFSETS_TOPIC for tp in known)
    return own == partitions and leaders == len(known)


async def _all_partitions(admin: AdminClient) -> Collection[TopicPartition]:
    return (await admin.describe_cluster()).partitions.keys()


def is_ready(cluster: Cluster, name: str) -> bool:
    """Whether a child says that it is ready: a broker is from its first registration on."""
    return _is_well(cluster, name, "readyz")


def is_certain(cluster: Cluster, name: str) -> bool:
    """Whether a broker says that it is registered, and that ZooKeeper answers."""
    return _is_well(cluster, name, "certainz")


def _is_well(cluster: Cluster, name: str, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{_http(cluster, name)}/{path}", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def seconds_until_in_sync(cluster: Cluster, partitions: int, timeout_s: float) -> float:
    """Wait until no partition lacks a replica or a leader; return how long that took."""
    started = time.monotonic()
    # Twice: a partition may be between two leaders while the brokers are asked in turn.
    for _ in range(2):
        until(lambda: is_in_sync(cluster, partitions), timeout_s, "every replica is in sync")
    return time.monotonic() - started


def until(condition: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Wait for the world outside."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s:g} s"
        time.sleep(0.2)


def resident_megabytes(cluster: Cluster) -> dict[str, int]:
    """Return the memory that each broker and controller holds."""
    found = {}
    for name in (*names(cluster, "broker"), *names(cluster, "controller")):
        status = Path(f"/proc/{cluster.pid(name)}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        found[name] = int(line.split()[1]) // 1024
    return found


def log_lines(cluster: Cluster) -> dict[str, int]:
    """Return how many lines each child has logged."""
    return {
        path.stem: path.read_bytes().count(b"\n")
        for path in sorted((cluster.directory / "logs").glob("*.log"))
    }


def describe(cluster: Cluster, topic: str) -> ClusterView:
    """Return the brokers and the topic's partitions, by Ballast's own admin client."""

    async def ask(admin: AdminClient) -> ClusterView:
        return await admin.describe_cluster([topic])

    return _asked(cluster, ask)


def throttles(cluster: Cluster, topic: str) -> Throttles:
    """Return every throttle that is set on the topic and on the brokers."""

    async def ask(admin: AdminClient) -> Throttles:
        found = dict(await admin.topic_configs([topic], [LEADER_REPLICAS, FOLLOWER_REPLICAS]))
        for broker in (await admin.describe_cluster([])).brokers:
            rates = await admin.broker_configs(broker.broker_id, [LEADER_RATE, FOLLOWER_RATE])
            found[f"broker-{broker.broker_id}"] = rates
        return {name: dict(values) for name, values in found.items()}

    return _asked(cluster, ask)


def set_throttle(cluster: Cluster, broker_id: int, bytes_per_second: int | None) -> None:
    """Set, or remove, a leader's rate on one broker as an administrator would."""
    value = None if bytes_per_second is None else str(bytes_per_second)

    async def ask(admin: AdminClient) -> None:
        assert await admin.alter_broker_configs(broker_id, {LEADER_RATE: value}) is None

    _asked(cluster, ask)


def pending_moves(cluster: Cluster) -> int:
    """Return how many partitions are being reassigned."""

    async def ask(admin: AdminClient) -> int:
        return len(await admin.list_reassignments())

    return _asked(cluster, ask)


def _asked(cluster: Cluster, ask: Callable[[AdminClient], Coroutine[None, None, Answer]]) -> Answer:
    async def run() -> Answer:
        admin = AdminClient(parse_bootstrap_servers(cluster.bootstrap_servers))
        try:
            return await ask(admin)
        finally:
            await admin.close()

    return asyncio.run(run())
