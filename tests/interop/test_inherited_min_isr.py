"""Moves on an Apache Kafka whose brokers' properties set min.insync.replicas, and no topic does."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

from tests.interop.apache_kafka import ApacheKafka, apache_kafka
from tests.interop.kafka_jars import VERSIONS
from tests.interop.test_apache_kafka import PARTITIONS, WAIT_S, Cluster, Manifest

ALONE = {number: [number % 3 + 1] for number in range(PARTITIONS)}
COPIED = {number: [(number + at) % 3 + 1 for at in range(3)] for number in range(PARTITIONS)}

pytestmark = pytest.mark.timeout(300)  # The first of them may fetch Kafka.


@pytest.fixture(scope="module", params=VERSIONS)
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApacheKafka]:
    directory = tmp_path_factory.mktemp("kafka")
    settings = "min.insync.replicas=2\nauto.leader.rebalance.enable=false\n"
    with apache_kafka(request.param, directory, brokers=3, settings=settings) as running:
        yield running


def test_one_replica_becomes_three_and_never_again_one(kafka: ApacheKafka, tmp_path: Path) -> None:
    """With one replica nothing is acknowledged to acks=all: the move is the cure."""
    cluster, topic = Cluster(kafka), "alone"
    new = NewTopic(topic, num_partitions=PARTITIONS, replica_assignment=list(ALONE.values()))
    cluster.admin.create_topics([new])[topic].result(WAIT_S)
    before = cluster.configs(topic)

    grow = Manifest(tmp_path / "grow.yaml", cluster.servers, topic, COPIED)
    grow.write(rate="100Mi")
    assert (grow.run().wait(WAIT_S), grow.state) == (0, "Completed")
    cluster.wait_for(topic, lambda assignment: assignment == COPIED)
    assert cluster.configs(topic) == before

    shrink = Manifest(tmp_path / "shrink.yaml", cluster.servers, topic, ALONE)
    shrink.write(rate="100Mi")
    assert (shrink.run().wait(WAIT_S), shrink.state) == (2, "Invalid")
    last = json.loads(shrink.path.with_suffix(".out").read_text().splitlines()[-1])
    reasons = {entry["type"]: entry["reason"] for entry in last["conditions"]}
    assert reasons["Accepted"] == "BelowMinISR"
    assert cluster.assignment(topic) == COPIED
