"""The quickstart: three brokers, a topic with data, a move under load, and nothing lost."""

import time

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import Namespace, example, state
from tests.e2e.installation import reassignment

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

SMALL_MOVE_S = 5.0


def test_the_example_moves_a_topic_under_load(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("orders", "3:1,3:2", "min.insync.replicas=1")
    clients.fill("orders", 2, 2 * 1024 * 1024)
    with clients.load("orders", 2, min_isr=1) as load:
        brokers.apply(example("move.yaml"))
        brokers.wait("preassign", "move-off-3", "Succeeded", timeout_s=120)
        load.wait_for_more()
    load.assert_nothing_lost()
    done = brokers.get("preassign", "move-off-3")
    assert done["status"]["progress"]["partitions"]["completed"] == 2
    assert done["status"]["throttle"]["restored"] is True
    assert state(brokers, "move-off-3") == "Completed"
    brokers.delete("preassign", "move-off-3")


def test_a_small_move_is_quick(brokers: Namespace, clients: Clients) -> None:
    clients.create_topic("small", "1:2")
    clients.fill("small", 1, 1024 * 1024)
    move = reassignment("small", {("small", 0): (3, 2)})
    started = time.monotonic()
    brokers.apply(move)
    brokers.wait("preassign", "small", "Succeeded", timeout_s=60)
    took = time.monotonic() - started
    print(f"1 MB moved in {took:.1f} s")
    brokers.delete("preassign", "small")
    assert took < SMALL_MOVE_S


def test_what_is_shown(brokers: Namespace) -> None:
    shown = brokers.kubectl("get", "ballast")
    assert "brokerset.ballast.dev/prod" in shown
    assert "3/3" in shown
