"""What an operator waits for: a reassignment, a controlled shutdown, a restart after a kill.

Through a running ``ballast up`` of three brokers and one controller. There is no floor to measure
beside these; the floor of the table is the time that they may take.
"""

import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ballast.protocol.messages.admin.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ballast.protocol.messages.admin.elect_leaders import ElectLeadersRequest
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from ballast.protocol.messages.cluster.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponsePartition,
)
from tests.bench.brokers import METADATA_VERSION, REASSIGN_VERSION, BenchCluster
from tests.bench.client import BenchClient
from tests.interop.local_cluster import running_cluster

MOVED_PARTITIONS = 1_000
LED_PARTITIONS = 1_000
"""The broker that stops leads so many partitions, and follows as many more."""

REASSIGN_BOUND_S = 10.0
SHUTDOWN_BOUND_S = 3.0
RESTART_BOUND_S = 10.0

ELECT_LEADERS_VERSION = 1
TOPIC = "operations"
VICTIM = 1
ROUNDS = 3
WAIT_S = 180.0
POLL_S = 0.1


@dataclass(frozen=True)
class Operations:
    """One running cluster, looked at through a broker that stays."""

    cluster: BenchCluster

    def partitions(self) -> list[MetadataResponsePartition]:
        """Return how the topic's partitions are led, as the broker that stays has been told."""
        request = MetadataRequest(topics=(MetadataRequestTopic(name=TOPIC),))
        answer = self.cluster.client.request(request, METADATA_VERSION)
        return sorted(answer.topics[0].partitions, key=lambda p: p.partition_index)

    def all_are_in_sync(self, above_epoch: int = -1) -> bool:
        """Whether all replicas are in sync, everywhere under a leader epoch above that one."""
        return all(
            {*p.isr_nodes} == {*p.replica_nodes} and p.leader_epoch > above_epoch
            for p in self.partitions()
        )

    def reassign(self, targets: Sequence[tuple[int, ...]]) -> float:
        """Move the topic's partitions; return the seconds until all are where they should be."""
        partitions = tuple(
            ReassignablePartition(partition_index=number, replicas=target)
            for number, target in enumerate(targets)
        )
        topic = ReassignableTopic(name=TOPIC, partitions=partitions)
        started = time.perf_counter()
        answer = self.cluster.client.request(
            AlterPartitionReassignmentsRequest(topics=(topic,), timeout_ms=60_000),
            REASSIGN_VERSION,
        )
        assert not answer.error_code, answer
        assert not any(p.error_code for t in answer.responses for p in t.partitions)
        _until(lambda: not self._is_reassigning(), "the reassignment's end")
        _until(lambda: self._are_placed(targets), "brokers to know of it")
        return time.perf_counter() - started

    def stop(self) -> float:
        """Ask the victim to stop; return the seconds until its process has ended."""
        pid = self.cluster.running.pid(_name())
        started = time.perf_counter()
        self.cluster.running.signal(_name(), signal.SIGTERM)
        _until(lambda: not _runs(pid), "the broker's end")
        return time.perf_counter() - started

    def kill(self) -> float:
        """Kill the victim, which is started again; return the seconds until it is back in sync.

        The end of its old session with ZooKeeper, which it has to wait for, is part of that.
        """
        epoch = max(p.leader_epoch for p in self.partitions())
        started = time.perf_counter()
        self.cluster.running.signal(_name(), signal.SIGKILL)
        _until(lambda: self.all_are_in_sync(epoch), "the broker to be back in sync")
        return time.perf_counter() - started

    def lead_again(self) -> None:
        """Wait until the victim, which is started again, is in sync, and let it lead as before."""
        _until(self.all_are_in_sync, "the broker to be back in sync")
        answer = self.cluster.client.request(
            ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=60_000),
            ELECT_LEADERS_VERSION,
        )
        assert not answer.error_code, answer
        _until(self._is_led_as_preferred, "the preferred leaders")

    def _is_reassigning(self) -> bool:
        answer = self.cluster.client.request(
            ListPartitionReassignmentsRequest(timeout_ms=60_000), REASSIGN_VERSION
        )
        assert not answer.error_code, answer
        return bool(answer.topics)

    def _are_placed(self, targets: Sequence[tuple[int, ...]]) -> bool:
        return self.all_are_in_sync() and [p.replica_nodes for p in self.partitions()] == [*targets]

    def _is_led_as_preferred(self) -> bool:
        return all(p.leader_id == p.replica_nodes[0] for p in self.partitions())


def measure_reassign(folder: Path) -> dict[str, object]:
    """Return the figure of 1,000 empty partitions moved: one of two replicas changes its broker."""
    start, end = (1, 2), (2, 3)
    with _cluster(folder / "reassign_1000", [start] * MOVED_PARTITIONS) as operations:
        taken = [
            operations.reassign([target] * MOVED_PARTITIONS)
            for target in (end, start, end, start)[: ROUNDS + 1]
        ]
    return _figure(taken[1:], REASSIGN_BOUND_S)


def measure_shutdown(folder: Path) -> dict[str, object]:
    """Return the figure of a broker that hands 1,000 leaders over, closes its logs and ends."""
    with _cluster(folder / "shutdown_1000", _led_and_followed()) as operations:
        taken = []
        for _ in range(ROUNDS):
            taken.append(operations.stop())
            operations.lead_again()
    return _figure(taken, SHUTDOWN_BOUND_S)


def measure_restart(folder: Path) -> dict[str, object]:
    """Return the figure of a broker with 2,000 replicas that is killed, and back in every ISR."""
    with _cluster(folder / "restart_2000", _led_and_followed()) as operations:
        taken = [operations.kill() for _ in range(ROUNDS)]
    return _figure(taken, RESTART_BOUND_S)


def _led_and_followed() -> list[tuple[int, ...]]:
    return [(VICTIM, 2), (2, VICTIM)] * LED_PARTITIONS


@contextmanager
def _cluster(folder: Path, replicas: list[tuple[int, ...]]) -> Iterator[Operations]:
    arguments = ("--brokers", "3", "--controllers", "1")
    with running_cluster(folder, *arguments) as running:
        address = running.bootstrap_servers.split(",")[-1]
        cluster = BenchCluster(running, BenchClient(address))
        cluster.create_topic(TOPIC, replicas)
        operations = Operations(cluster)
        _until(operations.all_are_in_sync, "the topic")
        yield operations
        cluster.client.close()


def _figure(taken: Sequence[float], bound_s: float) -> dict[str, object]:
    seconds = statistics.median(taken)
    return {
        "value": round(seconds, 2),
        "unit": "s",
        "floor": bound_s,
        "ratio": round(bound_s / seconds, 3),
    }


def until_in_sync(cluster: BenchCluster, topic: str) -> None:
    """Wait until all replicas of a topic are in sync, as the broker that is asked has been told."""
    request = MetadataRequest(topics=(MetadataRequestTopic(name=topic),))

    def are_in_sync() -> bool:
        partitions = cluster.client.request(request, METADATA_VERSION).topics[0].partitions
        return all({*p.isr_nodes} == {*p.replica_nodes} for p in partitions)

    _until(are_in_sync, "the topic")


def _name() -> str:
    return f"broker-{VICTIM}"


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _until(is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {WAIT_S:g} s for {what}")
        time.sleep(POLL_S)
