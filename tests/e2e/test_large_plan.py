"""A plan of 2,000 partitions, from a ConfigMap with Kafka's JSON, executed."""

import json
import time

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Document, Namespace
from tests.e2e.installation import reassignment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

TOPICS = 4
PARTITIONS_PER_TOPIC = 500
MOVE_S = 400.0
NAME = "large"


def plan(topics: list[str], replicas: list[int]) -> Document:
    """Return a ConfigMap with every partition's target, as kafka-reassign-partitions has it."""
    partitions = [
        {"topic": topic, "partition": number, "replicas": replicas}
        for topic in topics
        for number in range(PARTITIONS_PER_TOPIC)
    ]
    text = json.dumps({"version": 1, "partitions": partitions})
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": NAME},
        "data": {"plan.json": text},
    }


def test_two_thousand_partitions(brokers: Namespace, clients: Clients) -> None:
    topics = [f"large-{number}" for number in range(TOPICS)]
    for topic in topics:
        clients.create_topic(topic, ",".join(["1"] * PARTITIONS_PER_TOPIC))
    move = reassignment(NAME, {})
    move["spec"]["plan"] = {"configMapRef": {"name": NAME}}
    started = time.monotonic()
    brokers.apply(plan(topics, [2]), move)
    brokers.wait("preassign", NAME, "Succeeded", timeout_s=MOVE_S)
    print(f"2,000 partitions moved in {time.monotonic() - started:.0f} s")
    done = brokers.get("preassign", NAME)["status"]
    assert done["progress"]["partitions"]["completed"] == TOPICS * PARTITIONS_PER_TOPIC
    assert len(json.dumps(done)) < 8 * 1024
    brokers.delete("preassign", NAME)
    brokers.delete("configmap", NAME)
    for topic in topics:
        clients.delete_topic(topic)
