"""Kafka's own workload programs, of two versions: verifiable and performance, in groups or not."""

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.kafka_tools import KafkaTools, ToolRun
from tests.interop.local_cluster import RunningCluster

PARTITIONS = 3
RECORDS = 500
TIMEOUT_S = 30

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


@pytest.fixture
def topic(cluster: RunningCluster) -> Iterator[str]:
    name = f"workload-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic(name, PARTITIONS, 3)])[name].result(TIMEOUT_S)
    yield name
    admin.delete_topics([name])[name].result(TIMEOUT_S)


def events(run: ToolRun) -> list[dict[str, Any]]:
    """Return what a verifiable program reports, a JSON object per line."""
    return [json.loads(line) for line in run.lines if line.startswith("{")]


def test_what_the_verifiable_producer_sent_the_verifiable_consumer_reads(
    tools: KafkaTools, cluster: RunningCluster, topic: str
) -> None:
    servers = ("--bootstrap-server", cluster.bootstrap_servers, "--topic", topic)
    count = ("--max-messages", str(RECORDS))
    sent = events(tools.check("verifiable-producer", *servers, *count, "--acks", "-1"))
    [told] = [event for event in sent if event["name"] == "tool_data"]
    assert (told["sent"], told["acked"]) == (RECORDS, RECORDS)
    acknowledged = Counter(
        (event["partition"], event["offset"], event["value"])
        for event in sent
        if event["name"] == "producer_send_success"
    )
    assert len(acknowledged) == RECORDS
    group = ("--group-id", topic, "--reset-policy", "earliest", "--verbose")
    seen = events(tools.check("verifiable-consumer", *servers, *count, *group))
    assert acknowledged == Counter(
        (event["partition"], event["offset"], event["value"])
        for event in seen
        if event["name"] == "record_data"
    )
    [assigned] = [event for event in seen if event["name"] == "partitions_assigned"]
    assert {one["partition"] for one in assigned["partitions"]} == set(range(PARTITIONS))
    commits = [event for event in seen if event["name"] == "offsets_committed"]
    assert commits
    assert all(event["success"] for event in commits)


def test_the_performance_programs_count_what_they_move(
    tools: KafkaTools, cluster: RunningCluster, topic: str
) -> None:
    servers = cluster.bootstrap_servers
    produced = tools.check(
        *("producer-perf-test", "--topic", topic, "--num-records", str(RECORDS)),
        *("--record-size", "1000", "--throughput", "-1", "--producer-props", "acks=all"),
        *("linger.ms=5", f"bootstrap.servers={servers}"),
    )
    assert f"{RECORDS} records sent" in produced.out
    consumed = tools.check(
        *("consumer-perf-test", "--bootstrap-server", servers, "--topic", topic),
        *("--messages", str(RECORDS), "--group", topic, "--timeout", "30000"),
    )
    titles, figures = (
        [word.strip() for word in line.split(",")] for line in consumed.lines if "," in line
    )
    assert int(figures[titles.index("data.consumed.in.nMsg")]) == RECORDS


def test_latency_is_measured_from_end_to_end(
    tools: KafkaTools, cluster: RunningCluster, topic: str
) -> None:
    records = "50"
    run = tools.check("end-to-end-latency", cluster.bootstrap_servers, topic, records, "all", "100")
    assert "Avg latency" in run.out
    assert "Percentiles" in run.out
