"""Foreign clients share partitions in groups, through members that come, go, die and restart."""

import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.group_members import (
    MEMBERS,
    MemberClass,
    member,
    poll_records,
    poll_until,
)
from tests.interop.kafka_python_sockets import collect_sockets
from tests.interop.local_cluster import ROOT, RunningCluster, environment

PARTITIONS = 4
RECORDS = 40
TIMEOUT_S = 30
SHORT_SESSION_MS = 1_500


@pytest.fixture
def topic(cluster: RunningCluster) -> Iterator[str]:
    name = f"groups-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(TIMEOUT_S)
    yield name
    admin.delete_topics([name])[name].result(TIMEOUT_S)
    collect_sockets()


def write(cluster: RunningCluster, topic: str, begin: int, count: int) -> list[bytes]:
    """Write numbered records, spread evenly; return them sorted."""
    producer = confluent_kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
    values = [b"%06d" % number for number in range(begin, begin + count)]
    for number, value in enumerate(values):
        producer.produce(topic, value, partition=number % PARTITIONS)
    assert producer.flush(TIMEOUT_S) == 0
    return values


@pytest.mark.parametrize("kind", MEMBERS.values(), ids=MEMBERS)
def test_members_share_partitions_and_go_on_where_they_committed(
    cluster: RunningCluster, topic: str, kind: MemberClass
) -> None:
    arguments = cluster.bootstrap_servers, topic, topic
    first_records = write(cluster, topic, 0, RECORDS)
    with member(kind, *arguments) as first:
        assert poll_records(RECORDS, first) == first_records
        assert first.assignment() == set(range(PARTITIONS))
        first.commit()
        with member(kind, *arguments) as second:
            poll_until(lambda: len(second.assignment()) == PARTITIONS // 2, first, second)
            poll_until(lambda: len(first.assignment()) == PARTITIONS // 2, first, second)
            assert first.assignment() | second.assignment() == set(range(PARTITIONS))
            more = write(cluster, topic, RECORDS, PARTITIONS)
            assert poll_records(PARTITIONS, first, second) == more
            first.commit()
            second.commit()
        poll_until(lambda: len(first.assignment()) == PARTITIONS, first)
    last = write(cluster, topic, RECORDS + PARTITIONS, PARTITIONS)
    with member(kind, *arguments) as third:
        assert poll_records(PARTITIONS, third) == last


@pytest.mark.parametrize("kind", MEMBERS.values(), ids=MEMBERS)
def test_a_static_member_that_restarts_gets_its_partitions_back(
    cluster: RunningCluster, topic: str, kind: MemberClass
) -> None:
    arguments = cluster.bootstrap_servers, topic, topic
    with member(kind, *arguments, "one") as one:
        with member(kind, *arguments, "two") as two:
            poll_until(
                lambda: len(one.assignment()) == len(two.assignment()) == PARTITIONS // 2, one, two
            )
            before = two.assignment()
            generation = described(cluster, topic)
        # Nobody has noticed that it is gone: the other one's partitions stay as they are.
        assert described(cluster, topic) == generation
        with member(kind, *arguments, "two") as again:
            poll_until(lambda: again.assignment() == before, one, again)
            assert len(one.assignment()) == PARTITIONS // 2


def described(cluster: RunningCluster, group: str) -> dict[str, set[int]]:
    """Return the partitions of each static member, as the coordinator knows them."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    found = admin.describe_consumer_groups([group])[group].result(TIMEOUT_S)
    assert found.state == confluent_kafka.ConsumerGroupState.STABLE
    return {
        one.group_instance_id: {p.partition for p in one.assignment.topic_partitions}
        for one in found.members
    }


VICTIM = """
import sys
import confluent_kafka
consumer = confluent_kafka.Consumer({
    "bootstrap.servers": sys.argv[1], "group.id": sys.argv[2],
    "session.timeout.ms": int(sys.argv[3]), "heartbeat.interval.ms": 200,
})
consumer.subscribe([sys.argv[2]])
while True:
    consumer.poll(0.1)
"""


def test_the_work_of_a_member_that_dies_is_taken_over(cluster: RunningCluster, topic: str) -> None:
    arguments = cluster.bootstrap_servers, topic, topic
    with (
        member(MEMBERS["confluent"], *arguments) as survivor,
        subprocess.Popen(
            [sys.executable, "-c", VICTIM, cluster.bootstrap_servers, topic, str(SHORT_SESSION_MS)],
            env=environment(),
            cwd=ROOT,
        ) as victim,
    ):
        try:
            poll_until(lambda: len(survivor.assignment()) == PARTITIONS // 2, survivor)
        finally:
            victim.send_signal(signal.SIGKILL)
        killed_at = time.monotonic()
        poll_until(lambda: len(survivor.assignment()) == PARTITIONS, survivor)
        assert time.monotonic() - killed_at > SHORT_SESSION_MS / 1000 / 2
