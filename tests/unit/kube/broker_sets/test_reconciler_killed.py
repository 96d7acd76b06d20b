"""An operator that is killed at any of its writes is followed by one with the same outcome."""

from typing import Any

import pytest

from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, Resource
from tests.fakes.crash_point import Killed
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.broker_set_cluster import Environment
from tests.unit.kube.broker_sets.test_reconciler import CONNECTED, finish

READS = ("get", "list", "watch")


class MortalKubernetes(FakeKubernetes):
    """An API whose caller dies once at each write: before it, or just after it."""

    def __init__(self, *, after: bool) -> None:
        super().__init__()
        self._after = after
        self._survived: set[tuple[str, str, str]] = set()
        self._dies_next = False
        self.deaths = 0

    def _called(
        self,
        verb: str,
        resource: Resource,
        namespace: str | None,
        name: str,
        subresource: str | None = None,
    ) -> None:
        if self._dies_next:
            self._dies_next = False
            self._die()
        call = (verb, resource.plural, name)
        if verb not in READS and call not in self._survived:
            self._survived.add(call)
            if not self._after:
                self._die()
            self._dies_next = True
        super()._called(verb, resource, namespace, name, subresource)

    def _die(self) -> None:
        self.deaths += 1
        raise Killed("the operator")


async def go_on(env: Environment, rounds: int) -> None:
    """Let the world go on; an operator that dies is followed by another."""
    for _ in range(rounds):
        try:
            await env.loop.reconcile_once()
        except Killed:
            env.loop = env.operator()
        env.live()
        await env.clock.sleep(1.0)


@pytest.mark.parametrize("after", [False, True], ids=["before each write", "after each write"])
async def test_the_life_of_a_set(after: bool) -> None:
    api = MortalKubernetes(after=after)
    env = Environment(api, replicas=4, config={"min.insync.replicas": "2"})
    env.candidate = CONNECTED
    await go_on(env, 30)
    assert env.gates() == dict.fromkeys(range(4), "+InSync")
    assert env.cluster.default_configs == {"min.insync.replicas": "2"}
    for number in range(4):
        env.cluster.add("orders", number, *((number + i) % 4 for i in range(3)))
    env.edit(replicas=3)
    await go_on(env, 8)
    assert len(env.reassignments()) == 1
    env.edit(replicas=4)
    await go_on(env, 6)
    (drain,) = env.reassignments()
    assert drain["spec"]["desiredState"] == "Cancelled"
    finish(env, "Cancelled", "False")
    await go_on(env, 6)
    assert env.api.all(PARTITION_REASSIGNMENTS) == []
    env.edit(replicas=3)
    await go_on(env, 8)
    (drain,) = env.reassignments()
    await moved(env, drain)
    finish(env, "Completed", "True")
    await go_on(env, 10)
    assert env.pods().keys() == {0, 1, 2}
    assert env.condition("Ready") == ("True", "Ready")
    assert env.status["summary"] == "3/3"
    assert api.deaths >= 15


async def moved(env: Environment, drain: dict[str, Any]) -> None:
    """Carry a drain out."""
    for entry in drain["spec"]["plan"]["assignments"]:
        for tp in list(env.cluster.partitions):
            if (tp.topic, tp.partition) == (entry["topic"], entry["partition"]):
                env.cluster.reassign(tp, tuple(entry["replicas"]))
    await env.clock.sleep(5.0)
