"""The client that judges whether anything was lost sees it when something was."""

import time

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from tests.interop.local_cluster import RunningCluster

PARTITIONS = 2
RECORDS = 200
RECORD_BYTES = 1024
DELETED = 7
WAIT_S = 60


def test_acknowledged_records_that_are_gone_count_as_lost(cluster: RunningCluster) -> None:
    topic = f"judged-{time.monotonic_ns()}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(WAIT_S)
    workload = Workload(cluster.bootstrap_servers, topic, PARTITIONS)
    workload.preload(RECORDS * RECORD_BYTES)
    before = workload.verify()
    assert (before.acknowledged, before.lost, before.duplicated) == (RECORDS, 0, 0)
    (deleted,) = admin.delete_records([TopicPartition(topic, 1, DELETED)]).values()
    assert deleted.result(WAIT_S).low_watermark == DELETED
    after = workload.verify()
    assert (after.acknowledged, after.lost, after.duplicated) == (RECORDS, DELETED, 0)


def test_what_is_written_twice_counts_as_duplicated(cluster: RunningCluster) -> None:
    topic = f"judged-twice-{time.monotonic_ns()}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(WAIT_S)
    first, second = (Workload(cluster.bootstrap_servers, topic, PARTITIONS) for _ in range(2))
    first.preload(RECORDS * RECORD_BYTES)
    second.preload(RECORDS // 2 * RECORD_BYTES)
    verdict = first.verify()
    assert (verdict.lost, verdict.duplicated) == (0, RECORDS // 2)
