"""A set for which nothing is to be done costs the API server next to nothing."""

from dataclasses import replace
from typing import Any

import pytest

from ballast.brokersets.observation.observation import ControllerView, ZooKeeperState
from ballast.kube.api.resources import PODS, SERVICES
from ballast.kube.broker_sets.reconciler import KIND, REAPPLY_S
from ballast.kube.runtime.candidate_view import CandidateView
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.reconcile_loop import ReconcileLoop
from tests.unit.kube.broker_set_cluster import KEY, NAMESPACE, Environment

CONNECTED = CandidateView(
    controller=ControllerView(identity="operator-0", epoch=3, elected_ms=1_700_000_000_000),
    zookeeper=ZooKeeperState.CONNECTED,
)
SETS = 100
MAX_REQUESTS_PER_S = 5.0


class Followed(Environment):
    """Each change of the set's objects would wake it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_followed = True
        self.context_in_use = replace(self.context(), is_followed=lambda _name: self.is_followed)
        self.loop = ReconcileLoop(KIND, self.context_in_use, KEY)

    def reads(self) -> int:
        return sum(verb in ("get", "list") for verb, *_ in self.api.requests)


async def at_rest() -> Followed:
    env = Followed()
    env.candidate = CONNECTED
    await env.settle()
    assert env.condition("Ready") == ("True", "Ready")
    assert await env.loop.reconcile_once() == 10.0
    env.api.requests.clear()
    return env


async def test_a_hundred_sets_at_rest_ask_the_api_server_seldom() -> None:
    env = await at_rest()
    began = env.clock.now()
    while env.clock.now() < began + 2 * REAPPLY_S:
        delay_s = await env.loop.reconcile_once(is_enqueued=False)
        assert delay_s is not None
        await env.clock.sleep(delay_s)
    per_set = len(env.api.requests) / (env.clock.now() - began)
    assert per_set > 0
    assert SETS * per_set < MAX_REQUESTS_PER_S


async def test_what_wakes_a_set_is_read_at_once() -> None:
    env = await at_rest()
    assert await env.loop.reconcile_once(is_enqueued=False) == 10.0
    assert env.reads() == 0
    await env.api.delete(SERVICES, NAMESPACE, "prod-bootstrap")
    await env.loop.reconcile_once(is_enqueued=True)
    assert env.api.find(SERVICES, NAMESPACE, "prod-bootstrap") is not None


async def test_a_step_is_taken_on_what_is_read_for_it_alone() -> None:
    env = await at_rest()
    await env.api.delete(PODS, NAMESPACE, "prod-broker-2")
    env.cluster.stop(2)
    await env.loop.reconcile_once(is_enqueued=False)
    assert env.reads() > 0
    assert env.condition("Ready")[0] == "False"


async def test_nothing_is_taken_for_granted_where_changes_are_not_followed() -> None:
    env = await at_rest()
    env.is_followed = False
    await env.loop.reconcile_once()
    before = env.reads()
    await env.loop.reconcile_once(is_enqueued=False)
    assert env.reads() > before


@pytest.mark.parametrize("is_later", [False, True], ids=["before", "after"])
async def test_every_object_is_applied_again_after_a_while(is_later: bool) -> None:
    env = await at_rest()
    await env.clock.sleep(REAPPLY_S if is_later else REAPPLY_S / 2)
    await env.loop.reconcile_once(is_enqueued=False)
    assert any(verb == "apply" for verb, *_ in env.api.requests) == is_later


def test_by_default_nothing_is_followed() -> None:
    context: OperatorContext = Environment().context()
    assert not context.is_followed(NAMESPACE)


async def test_a_look_that_takes_long_is_followed_by_a_longer_pause() -> None:
    env = await at_rest()
    read = env.admin.list_reassignments

    async def slow() -> Any:
        await env.clock.sleep(3.0)
        return await read()

    env.admin.list_reassignments = slow  # type: ignore[method-assign]
    env.cluster.stop(2)
    assert await env.loop.reconcile_once() == 5.0
    assert env.loop.pause_s == 3.0
