"""What administrators do during a storm: partitions move, and topics come and go."""

import random
import time
from collections.abc import Sequence
from pathlib import Path

import confluent_kafka
from confluent_kafka.admin import AdminClient, NewTopic

from tests.faults.chaos_load import Load
from tests.faults.move import Move
from tests.faults.networked_cluster import NetworkedCluster

MOVE_TIMEOUT_S = 300.0
DELETION_TIMEOUT_S = 120.0
ADMIN_TIMEOUT_S = 30.0
RECORDS = 20
REPLICAS = 3
THROTTLE = "2Mi"


class Mover(Load):
    """Moves some partitions of one of the topics, waits for the end, and begins anew."""

    def __init__(
        self,
        cluster: NetworkedCluster,
        folder: Path,
        topics: Sequence[str],
        partitions: int,
        chance: random.Random,
    ) -> None:
        super().__init__()
        self._cluster = cluster
        self._folder = folder
        self._topics = topics
        self._partitions = partitions
        self._chance = chance
        self.moves = 0
        self.unfinished = 0

    def work(self) -> None:
        brokers = range(1, len(self._cluster.brokers) + 1)
        numbers = self._chance.sample(range(self._partitions), self._partitions // 2)
        targets = {number: self._chance.sample(brokers, REPLICAS) for number in numbers}
        folder = self._folder / f"move-{self.moves}"
        folder.mkdir(parents=True)
        execution = {"throttle": {"rate": THROTTLE}}
        topic = self._chance.choice(self._topics)
        move = Move(self._cluster, folder, topic, targets, execution)
        self.moves += 1
        deadline = time.monotonic() + MOVE_TIMEOUT_S
        # A move that gives up while nobody answers is run again, as its user would.
        while time.monotonic() < deadline:
            with move.run() as process:
                if process.wait(MOVE_TIMEOUT_S) == 0:
                    return
            time.sleep(1.0)
        self.unfinished += 1
        raise AssertionError(f"no end: {move.output.read_text()[-1000:]}")


class Churn(Load):
    """Makes a topic, writes to it, deletes it, and sees that it is gone."""

    def __init__(self, servers: str) -> None:
        super().__init__()
        self._servers = servers
        self.topics = 0
        self.undeleted: set[str] = set()

    def work(self) -> None:
        name = f"churn-{self.topics}"
        self.topics += 1
        admin = AdminClient({"bootstrap.servers": self._servers, "log_level": 2})
        new = NewTopic(name, num_partitions=3, replication_factor=REPLICAS)
        self.undeleted.add(name)
        try:
            admin.create_topics([new])[name].result(ADMIN_TIMEOUT_S)
            self._write(name)
        finally:
            self.delete(admin, name)

    def _write(self, name: str) -> None:
        settings = {"bootstrap.servers": self._servers, "acks": "all", "log_level": 2}
        producer = confluent_kafka.Producer({**settings, "message.timeout.ms": 20_000})
        for number in range(RECORDS):
            producer.produce(name, b"%d" % number)
        producer.flush(ADMIN_TIMEOUT_S)

    def delete(self, admin: AdminClient, name: str) -> None:
        """Delete a topic until it is gone, whatever becomes of single requests."""
        deadline = time.monotonic() + DELETION_TIMEOUT_S
        while time.monotonic() < deadline:
            try:
                admin.delete_topics([name])[name].result(ADMIN_TIMEOUT_S)
            except confluent_kafka.KafkaException as error:
                unknown = confluent_kafka.KafkaError.UNKNOWN_TOPIC_OR_PART
                if error.args[0].code() == unknown and name not in self._listed(admin):
                    self.undeleted.discard(name)
                    return
            time.sleep(0.5)

    def delete_the_rest(self) -> None:
        """Delete what could not be deleted before, and what came into being late."""
        admin = AdminClient({"bootstrap.servers": self._servers, "log_level": 2})
        listed = {name for name in self._listed(admin) if name.startswith("churn-")}
        for name in sorted(self.undeleted | listed):
            self.undeleted.add(name)
            self.delete(admin, name)

    @staticmethod
    def _listed(admin: AdminClient) -> set[str]:
        return set(admin.list_topics(timeout=ADMIN_TIMEOUT_S).topics)
