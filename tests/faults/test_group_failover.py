"""The broker that coordinates a group is killed: its members go on, and no commit is forgotten."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.faults import observation
from tests.interop.group_members import MEMBERS, Member, MemberClass, member, poll_until
from tests.interop.kafka_python_sockets import collect_sockets
from tests.interop.local_cluster import RunningCluster, running_cluster

TOPIC = "followed"
PARTITIONS = 4
RECORDS = 40
ROUNDS = 3
TIMEOUT_S = 60

Answer = TypeVar("Answer")

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # kafka-python's
]


@pytest.fixture(autouse=True)
def no_sockets_left() -> Iterator[None]:
    yield
    collect_sockets()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCluster]:
    options = ("--brokers", "3", "--override", "group.initial.rebalance.delay.ms=0")
    with running_cluster(tmp_path_factory.mktemp("failover"), *options) as running:
        admin = AdminClient({"bootstrap.servers": running.bootstrap_servers})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 3)])[TOPIC].result(TIMEOUT_S)
        yield running


def write(cluster: RunningCluster) -> None:
    """Add as many records to each partition."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
    )
    for number in range(RECORDS):
        producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0


def asked(ask: Callable[[AdminClient], Answer], cluster: RunningCluster) -> Answer:
    """Ask again and again while the group has no coordinator, with a client that remembers none."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 2})
        try:
            return ask(admin)
        except confluent_kafka.KafkaException:
            assert time.monotonic() < deadline, "no coordinator answers"
            time.sleep(0.2)


def coordinator(cluster: RunningCluster, group: str) -> int:
    """Return the id of the broker that coordinates a group."""

    def ask(admin: AdminClient) -> int:
        described = admin.describe_consumer_groups([group])[group].result(TIMEOUT_S)
        found: int = described.coordinator.id
        return found

    return asked(ask, cluster)


def committed(cluster: RunningCluster, group: str) -> dict[int, int]:
    """Return the offsets of a group as its coordinator of now tells them."""

    def ask(admin: AdminClient) -> dict[int, int]:
        wanted = [confluent_kafka.ConsumerGroupTopicPartitions(group)]
        found = admin.list_consumer_group_offsets(wanted)[group].result(TIMEOUT_S)
        return {one.partition: one.offset for one in found.topic_partitions}

    return asked(ask, cluster)


def commit(*members: Member) -> None:
    """Commit what is new; while a group has no coordinator, or nothing is new, that fails."""
    for one in members:
        with suppress(Exception):  # Each library has its own.
            one.commit()


@pytest.mark.parametrize("kind", MEMBERS.values(), ids=MEMBERS)
def test_members_go_on_with_another_coordinator(
    cluster: RunningCluster, kind: MemberClass, tmp_path: Path
) -> None:
    group = f"group-{tmp_path.name}"
    with (
        member(kind, cluster.bootstrap_servers, group, TOPIC) as first,
        member(kind, cluster.bootstrap_servers, group, TOPIC) as second,
    ):
        both = (first, second)
        poll_until(
            lambda: {len(one.assignment()) for one in both} == {PARTITIONS // 2},
            *both,
            timeout_s=TIMEOUT_S,
        )
        for _ in range(ROUNDS):
            write(cluster)
            ends = end_offsets(cluster)

            def has_all(ends: dict[int, int] = ends) -> bool:
                commit(*both)
                return committed(cluster, group) == ends

            poll_until(has_all, *both, timeout_s=TIMEOUT_S)
            before = coordinator(cluster, group)
            victim = f"broker-{before}"
            killed = cluster.pid(victim)
            cluster.signal(victim, signal.SIGKILL)
            observation.until(
                lambda before=before: coordinator(cluster, group) != before,  # type: ignore[misc]
                TIMEOUT_S,
                "another broker coordinates",
            )
            assert committed(cluster, group) == ends
            poll_until(
                lambda: first.assignment() | second.assignment() == set(range(PARTITIONS)),
                *both,
                timeout_s=TIMEOUT_S,
            )
            observation.until(
                lambda victim=victim, killed=killed: (  # type: ignore[misc]
                    cluster.pid(victim) != killed and observation.is_ready(cluster, victim)
                ),
                TIMEOUT_S,
                "the killed broker is back",
            )
            observation.until(
                lambda: observation.is_in_sync(cluster, PARTITIONS), TIMEOUT_S, "in sync"
            )


def end_offsets(cluster: RunningCluster) -> dict[int, int]:
    """Return the end of each partition."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "ends"}
    )
    try:
        return {
            number: consumer.get_watermark_offsets(
                confluent_kafka.TopicPartition(TOPIC, number), timeout=TIMEOUT_S
            )[1]
            for number in range(PARTITIONS)
        }
    finally:
        consumer.close()
