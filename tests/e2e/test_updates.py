"""A running set gets another image and other configs, while clients write: nothing is lost."""

import json
from collections.abc import Callable

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import OTHER_IMAGE, Document, Namespace, eventually
from tests.e2e.installation import BROKER_SET, broker_pods, is_ready
from tests.e2e.moves import slow_move

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

ROLL_S = 360.0
APPLY_S = 60.0


def uids(namespace: Namespace) -> list[str]:
    return [pod["metadata"]["uid"] for pod in broker_pods(namespace)]


def wait_for_pods(namespace: Namespace, are_as_wanted: Callable[[Document], bool]) -> None:
    """Wait until every pod is as it should be, and ready."""

    def are_all() -> bool:
        pods = broker_pods(namespace)
        return len(pods) == 3 and all(is_ready(pod) and are_as_wanted(pod) for pod in pods)

    eventually("all brokers updated", are_all, timeout_s=ROLL_S)
    namespace.wait("bset", BROKER_SET, "Ready", timeout_s=APPLY_S)


def test_a_config_that_running_brokers_take(brokers: Namespace, clients: Clients) -> None:
    before = uids(brokers)
    name, value = "message.max.bytes", "1200000"
    brokers.patch("bset", BROKER_SET, {"spec": {"config": {name: value}}})

    def is_in_force() -> bool:
        return clients.config(name) == dict.fromkeys(("1", "2", "3"), value)

    eventually(f"{name}={value} on every broker", is_in_force, timeout_s=APPLY_S, poll_s=1.0)

    def is_reported() -> bool:
        # The event is written after the config.
        events = json.loads(brokers.kubectl("get", "events.events.k8s.io", "-o", "json"))["items"]
        notes = [event["note"] for event in events if event.get("reason") == "ConfigChanged"]
        return any(name in note for note in notes)

    eventually("an event for the change", is_reported, timeout_s=APPLY_S, poll_s=1.0)
    brokers.patch("bset", BROKER_SET, {"spec": {"config": {name: None}}})
    eventually(
        f"{name} as before",
        lambda: value not in clients.config(name).values(),
        timeout_s=APPLY_S,
        poll_s=1.0,
    )
    assert uids(brokers) == before


def test_image_and_static_config_during_a_move(brokers: Namespace, clients: Clients) -> None:
    """Two changes at once are one roll: each broker is restarted once."""
    name, value = "replica.lag.time.max.ms", "25000"
    before = set(uids(brokers))
    clients.create_topic("updated-kept", "1:2:3,2:3:1,3:1:2", "min.insync.replicas=2")
    with slow_move(clients, "updated") as move, clients.load("updated-kept", 3) as load:
        move.wait_for("Executing")
        brokers.patch("bset", BROKER_SET, {"spec": {"image": OTHER_IMAGE, "config": {name: value}}})
        seen: set[str] = set()

        def is_updated(pod: Document) -> bool:
            seen.add(pod["metadata"]["uid"])
            return bool(pod["spec"]["containers"][0]["image"] == OTHER_IMAGE)

        wait_for_pods(brokers, is_updated)
        load.wait_for_more()
        assert clients.config(name) == dict.fromkeys(("1", "2", "3"), value)
        assert len(seen - before) == 3, "a broker was restarted more than once"
        assert move.state() == "Executing"
        move.end()
    load.assert_safe()
