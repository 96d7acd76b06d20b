"""A storm over real processes: ``python -m tests.faults.chaos --minutes 30``.

Brokers, controllers and ZooKeeper are killed, stopped, and cut off one way, by a seed, while
partitions move, topics come and go, groups read and commit, and two client libraries write with
acks=all. In the end nothing that was acknowledged may be missing, and every move has ended. The
last line says how much was done.
"""

import argparse
import logging
import random
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Verdict, Workload
from tests.faults import observation
from tests.faults.chaos_churn import REPLICAS, Churn, Mover
from tests.faults.chaos_faults import put_on, rounds, take_off
from tests.faults.chaos_ledger import Ledger, Place
from tests.faults.chaos_load import READERS, AiokafkaWriter, Load
from tests.faults.networked_cluster import CLIENTS, NetworkedCluster, NetworksMissing, enter

BROKERS = 4
CONTROLLERS = 2
PARTITIONS = 8
WRITTEN, STREAMED = "written", "streamed"
TOPICS = (WRITTEN, STREAMED)
MEMBERS = 2
RECORDS_PER_SECOND = 100
CALM_EVERY = 6
"""After so many rounds of faults everything must be in sync again."""
CALM_TIMEOUT_S = 120.0
DRAIN_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 400.0
"""More than a move, or a topic's deletion, is given."""
ASK_TIMEOUT_S = 30.0


@dataclass(kw_only=True)
class ChaosRun:
    """One run: the cluster, its load, and what has been seen."""

    cluster: NetworkedCluster
    chance: random.Random
    ledger: Ledger = field(default_factory=Ledger)
    faults: int = 0
    violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        servers, folder = self.cluster.bootstrap_servers, self.cluster.directory
        self.workload = Workload(servers, WRITTEN, PARTITIONS)
        self.mover = Mover(
            self.cluster,
            folder / "moves",
            TOPICS,
            PARTITIONS,
            random.Random(self.chance.random()),
        )
        self.churn = Churn(servers)
        self.writer = AiokafkaWriter(servers, STREAMED, PARTITIONS, self.ledger, RECORDS_PER_SECOND)
        self.readers = [
            kind(servers, group, TOPICS, self.ledger)
            for group, kind in READERS.items()
            for _ in range(MEMBERS)
        ]

    @property
    def loads(self) -> list[Load]:
        """Everything that runs in a thread of its own."""
        return [self.writer, *self.readers, self.mover, self.churn]

    def run(self, minutes: float) -> Verdict:
        """Make the topics, let the storm pass over them, and look at what is left."""
        self._make_topics()
        self.workload.start(records_per_second=RECORDS_PER_SECOND)
        for load in self.loads:
            load.start()
        self._blow(time.monotonic() + minutes * 60)
        say("the storm is over")
        self.mover.stop(STOP_TIMEOUT_S)
        self.churn.stop(STOP_TIMEOUT_S)
        self.writer.stop()
        self.workload.stop()
        self._settle()
        for reader in self.readers:
            reader.stop()
        return self.workload.verify()

    def _make_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap_servers})
        new = [
            NewTopic(topic, PARTITIONS, REPLICAS, config={"min.insync.replicas": "2"})
            for topic in TOPICS
        ]
        for future in admin.create_topics(new).values():
            future.result(ASK_TIMEOUT_S)

    def _blow(self, until_s: float) -> None:
        everybody = [*self.cluster.children, CLIENTS]
        drawn = rounds(self.chance, self.cluster.children, CLIENTS)
        for number, together in enumerate(drawn, start=1):
            if time.monotonic() > until_s:
                break
            say(", ".join(str(fault) for fault in together))
            for fault in together:
                put_on(fault, self.cluster, everybody)
            held_s = 0.0
            for fault in sorted(together, key=lambda fault: fault.hold_s):
                time.sleep(fault.hold_s - held_s)
                held_s = fault.hold_s
                take_off(fault, self.cluster, everybody)
            self.faults += len(together)
            time.sleep(together[-1].rest_s)
            self._restart()
            if number % CALM_EVERY == 0:
                self._calm()

    def _restart(self) -> None:
        """Start again what has ended by itself, as whoever runs it would."""
        for name in self.cluster.children:
            if not self.cluster.is_running(name):
                say(f"{name} has ended by itself")
                self.cluster.start(name)

    def _calm(self) -> None:
        started = time.monotonic()
        observation.until(self._is_in_sync, CALM_TIMEOUT_S, "every replica is in sync")
        say(
            f"in sync after {time.monotonic() - started:.1f} s; "
            f"{self.workload.acknowledged} + {self.ledger.acknowledged} records, "
            f"{self.ledger.commits} commits, {self.mover.moves} moves, {self.churn.topics} topics"
        )
        self._check_commits()

    def _is_in_sync(self) -> bool:
        self._restart()
        texts = [observation.metrics(self.cluster, name) for name in self.cluster.brokers]
        name = "ballast_broker_under_replicated_partitions"
        return all(observation.is_ready(self.cluster, name) for name in self.cluster.brokers) and (
            sum(observation.gauge(text, name) for text in texts) == 0
        )

    def _check_commits(self) -> None:
        for group in READERS:
            for place, offset in self._committed(group).items():
                self.ledger.check_committed(group, place, offset, time.monotonic())

    def _committed(self, group: str) -> dict[Place, int]:
        consumer = self._consumer(group)
        places = [
            confluent_kafka.TopicPartition(topic, number)
            for topic in TOPICS
            for number in range(PARTITIONS)
        ]
        try:
            found = consumer.committed(places, timeout=ASK_TIMEOUT_S)
        finally:
            consumer.close()
        return {Place(one.topic, one.partition): max(one.offset, 0) for one in found}

    def _consumer(self, group: str) -> confluent_kafka.Consumer:
        return confluent_kafka.Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap_servers,
                "group.id": group,
                "enable.auto.commit": False,
                "check.crcs": True,
                "log_level": 2,
            }
        )

    def _settle(self) -> None:
        """Wait until groups have read everything; then compare."""
        self.churn.delete_the_rest()
        observation.until(self._is_in_sync, CALM_TIMEOUT_S, "every replica is in sync")
        ends = self._ends()
        observation.until(
            lambda: all(self._committed(group) == ends for group in READERS),
            DRAIN_TIMEOUT_S,
            "groups have committed all there is",
        )
        self._check_commits()
        for place, end in ends.items():
            for group in READERS:
                if unread := self.ledger.unread(group, place, end):
                    self.violations.append(f"{group} has not read {unread} records of {place}")
            if place.topic == STREAMED:
                self.violations += self.ledger.missing(place, self._numbers(place, end))
        self.violations += self.ledger.lost_commits
        if pending := observation.pending_moves(self.cluster):
            self.violations.append(f"{pending} partitions are still being moved")

    def _ends(self) -> dict[Place, int]:
        consumer = self._consumer("ends")
        try:
            return {
                Place(topic, number): consumer.get_watermark_offsets(
                    confluent_kafka.TopicPartition(topic, number), timeout=ASK_TIMEOUT_S
                )[1]
                for topic in TOPICS
                for number in range(PARTITIONS)
            }
        finally:
            consumer.close()

    def _numbers(self, place: Place, end: int) -> dict[int, int]:
        """Return the number of the record at each offset."""
        found: dict[int, int] = {}
        consumer = self._consumer("numbers")
        consumer.assign([confluent_kafka.TopicPartition(*place, 0)])
        deadline = time.monotonic() + DRAIN_TIMEOUT_S
        try:
            while len(found) < end:
                assert time.monotonic() < deadline, f"{place} cannot be read to the end"
                for message in consumer.consume(1000, 0.5):
                    if message.error() is None:
                        found[message.offset()] = struct.unpack_from(">q", message.value())[0]
        finally:
            consumer.close()
        return found


def say(what: str) -> None:
    """Print a line with the time."""
    print(f"    {time.strftime('%H:%M:%S')} {what}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run a storm; 0 when nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.chaos")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--directory", type=Path, default=None)
    options = parser.parse_args(arguments)
    try:
        enter()
    except NetworksMissing as missing:
        print(f"chaos: {missing}")
        return 2
    folder = options.directory or Path(tempfile.mkdtemp(prefix="ballast-chaos-"))
    say(f"seed {options.seed}, in {folder}")
    logging.disable(logging.CRITICAL)  # Clients tell of every connection that faults break.
    cluster = NetworkedCluster(folder, brokers=BROKERS, controllers=CONTROLLERS)
    with cluster.running():
        chaos = ChaosRun(cluster=cluster, chance=random.Random(options.seed))
        try:
            verdict = chaos.run(options.minutes)
        except BaseException:
            chaos.workload.abandon()
            raise
    for line in chaos.violations[:50]:
        say(f"VIOLATION: {line}")
    for load in chaos.loads:
        for failure in load.failures[:5]:
            say(f"begun again: {failure[:300]}")
    lost = verdict.lost + sum("was acknowledged at" in line for line in chaos.violations)
    print(
        f"chaos: minutes={options.minutes:g} seed={options.seed} faults={chaos.faults} "
        f"acknowledged={verdict.acknowledged + chaos.ledger.acknowledged} lost={lost} "
        f"duplicated={verdict.duplicated} commits={chaos.ledger.commits} "
        f"commits_lost={len(chaos.ledger.lost_commits)} moves={chaos.mover.moves} "
        f"unfinished={chaos.mover.unfinished} topics={chaos.churn.topics} "
        f"undeleted={len(chaos.churn.undeleted)} violations={len(chaos.violations)}",
        flush=True,
    )
    clean = not (chaos.violations or lost or verdict.duplicated)
    return 0 if clean and not (chaos.mover.unfinished or chaos.churn.undeleted) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
