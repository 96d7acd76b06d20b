"""Plans of 2,000 partitions, as Kafka's JSON and executed, and of a million in chunks, shown."""

import base64
import json
import time

import pytest

from ballast.reassign.plan.chunks import write_plan
from ballast.reassign.plan.index import CHUNK_KEY, INDEX_KEY
from tests.e2e.clients import Clients
from tests.e2e.cluster import Document, Namespace, eventually, reason, state
from tests.e2e.installation import OPERATOR_PODS, reassignment
from tests.unit.reassign.big_plans import big_plan

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

TOPICS = 4
PARTITIONS_PER_TOPIC = 500
MOVE_S = 400.0
AT_ONCE = 50
"""Per broker; with the default of five, this many small moves would take minutes longer."""
NAME = "large"
MILLION = "million"
PER_TOPIC = 200
SHOWN_S = 180.0


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
    move = reassignment(NAME, {}, execution={"maxConcurrentMovesPerBroker": AT_ONCE})
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


def test_a_million_partitions_are_shown_approved_and_begun(brokers: Namespace) -> None:
    """More than is executed in one piece: the plan is read and held to the digest."""
    written = write_plan(big_plan(1_000_000 // PER_TOPIC, PER_TOPIC, brokers=1000))
    index = written.index(MILLION)
    names = [chunk.name for chunk in index.chunks]
    restarts = restarts_of(brokers)
    try:
        for name, chunk in zip(names, written.chunks, strict=True):
            data = {CHUNK_KEY: base64.b64encode(chunk.data).decode()}
            create(brokers, {**plan_object(name), "binaryData": data})
        create(brokers, {**plan_object(MILLION), "data": {INDEX_KEY: index.encode()}})
        move = reassignment(MILLION, {}, approval={"policy": "Manual"})
        move["spec"]["plan"] = {"configMapRef": {"name": MILLION, "key": INDEX_KEY}}
        brokers.apply(move)
        eventually(
            "the plan shown",
            lambda: state(brokers, MILLION) == "AwaitingApproval",
            timeout_s=SHOWN_S,
            poll_s=2.0,
        )
        plan = brokers.get("preassign", MILLION)["status"]["plan"]
        assert (plan["partitions"], plan["digest"]) == (1_000_000, index.digest)
        approval = {"spec": {"approval": {"planDigest": index.digest}}}
        brokers.patch("preassign", MILLION, approval)
        eventually(
            "its first piece held against the cluster",
            lambda: state(brokers, MILLION) == "Invalid",
            timeout_s=SHOWN_S,
            poll_s=2.0,
        )
        # The cluster has none of these topics.
        assert reason(brokers.get("preassign", MILLION), "Accepted") == "UnknownTopic"
        # Its memory is limited to 1 GiB: beyond that it would have been killed.
        assert restarts_of(brokers) == restarts
    finally:
        brokers.delete("preassign", MILLION)
        for name in (*names, MILLION):
            brokers.delete("configmap", name)


def plan_object(name: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "immutable": True}


def create(namespace: Namespace, document: Document) -> None:
    """Create an object that is too large for what `kubectl apply` writes beside it."""
    text = json.dumps(document)
    assert len(text) <= 1024 * 1024
    namespace.kubectl("create", "-f", "-", text=text)


def restarts_of(namespace: Namespace) -> dict[str, int]:
    pods = namespace.list("pods", OPERATOR_PODS)
    return {
        pod["metadata"]["name"]: status["restartCount"]
        for pod in pods
        for status in pod["status"]["containerStatuses"]
    }
