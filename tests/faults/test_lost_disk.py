"""The last in-sync replica comes back with an empty disk (KAFKA-14139): it does not lead.

Run by ``make chaos``. The others have all that was acknowledged, as ``min.insync.replicas`` asks
for, but they are out of the ISR: nobody leads until somebody says that one of them may.
"""

import shutil
import signal
from pathlib import Path

import pytest
from confluent_kafka import ElectionType
from confluent_kafka import TopicPartition as ElectedPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from ballast.model.ids import TopicPartition
from ballast.reassign.ports import ClusterUnavailable, PartitionView
from tests.faults import observation
from tests.interop.local_cluster import RunningCluster, running_cluster

TOPIC = "kept"
PARTITIONS = 2
BROKERS = 3

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]


def seen(cluster: RunningCluster) -> list[PartitionView]:
    """Return how the partitions are led, nothing while nobody can be asked."""
    try:
        known = observation.describe(cluster, TOPIC).partitions
    except ClusterUnavailable:
        return []
    return [known[TopicPartition(TOPIC, number)] for number in range(PARTITIONS)]


def missing(cluster: RunningCluster) -> float:
    text = observation.metrics(cluster, "broker-1")
    return observation.gauge(text, "ballast_broker_missing_replicas")


def log_bytes(cluster: RunningCluster, broker: str) -> int:
    return sum(p.stat().st_size for p in (cluster.directory / "data" / broker).glob("kept-*/*.log"))


def leave_broker_1_alone(cluster: RunningCluster) -> None:
    """Pause the others until the ISR is broker 1."""
    for name in ("broker-2", "broker-3"):
        cluster.signal(name, signal.SIGSTOP)
    observation.until(
        lambda: [tuple(view.isr) for view in seen(cluster)] == [(1,)] * PARTITIONS,
        60,
        "broker 1 is alone in the ISR",
    )


def replace_disk(cluster: RunningCluster) -> None:
    """Take broker 1's data away before it is started again."""
    pid = cluster.pid("broker-1")
    cluster.signal("broker-1", signal.SIGSTOP)
    shutil.rmtree(cluster.directory / "data" / "broker-1")
    cluster.signal("broker-1", signal.SIGKILL)
    path = cluster.directory / "run" / "broker-1.pid"
    observation.until(
        lambda: path.exists() and cluster.pid("broker-1") != pid, 60, "it is started again"
    )


def test_nothing_is_lost_with_the_last_disk(tmp_path: Path) -> None:
    with running_cluster(tmp_path, "--brokers", str(BROKERS)) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        new = NewTopic(
            TOPIC,
            replica_assignment=[[1, 2, 3]] * PARTITIONS,
            num_partitions=PARTITIONS,
            config={"min.insync.replicas": "2"},
        )
        admin.create_topics([new])[TOPIC].result(30)
        workload = Workload(cluster.bootstrap_servers, TOPIC, PARTITIONS)
        workload.preload(4 * 1024 * 1024)
        observation.seconds_until_in_sync(cluster, PARTITIONS, 60)
        kept = {name: log_bytes(cluster, name) for name in ("broker-2", "broker-3")}

        leave_broker_1_alone(cluster)
        replace_disk(cluster)
        for name in kept:
            cluster.signal(name, signal.SIGCONT)
        observation.until(lambda: missing(cluster) == PARTITIONS, 60, "it knows what it has lost")
        observation.until(
            lambda: all(
                observation.is_ready(cluster, f"broker-{broker}")
                for broker in range(1, BROKERS + 1)
            ),
            60,
            "all brokers are back",
        )
        observation.until(
            lambda: [view.leader for view in seen(cluster)] == [-1] * PARTITIONS,
            60,
            "nobody leads",
        )
        assert [tuple(view.isr) for view in seen(cluster)] == [(1,)] * PARTITIONS
        assert {name: log_bytes(cluster, name) for name in kept} == kept
        assert log_bytes(cluster, "broker-1") == 0

        partitions = [ElectedPartition(TOPIC, number) for number in range(PARTITIONS)]
        outcome = admin.elect_leaders(ElectionType.UNCLEAN, partitions).result(30)
        assert not any(outcome.values()), outcome
        observation.seconds_until_in_sync(cluster, PARTITIONS, 60)
        assert missing(cluster) == 0
        verdict = workload.verify()
        assert (verdict.lost, verdict.duplicated) == (0, 0)
        assert verdict.acknowledged == workload.written
