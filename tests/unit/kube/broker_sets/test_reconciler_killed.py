"""An operator that dies at each of its writes is followed by one that comes to the same end."""

from typing import Any

import pytest

from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, Resource
from tests.fakes.fuse import Killed
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.broker_set_house import House
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


async def go_on(house: House, rounds: int) -> None:
    """Let the world go on; an operator that dies is followed by another."""
    for _ in range(rounds):
        try:
            await house.tender.look()
        except Killed:
            house.tender = house.operator()
        house.live()
        await house.clock.sleep(1.0)


@pytest.mark.parametrize("after", [False, True], ids=["before each write", "after each write"])
async def test_the_life_of_a_set(after: bool) -> None:
    api = MortalKubernetes(after=after)
    house = House(api, replicas=4, config={"min.insync.replicas": "2"})
    house.candidate = CONNECTED
    await go_on(house, 30)
    assert house.gates() == dict.fromkeys(range(4), "+InSync")
    assert house.cluster.default_configs == {"min.insync.replicas": "2"}
    for number in range(4):
        house.cluster.add("orders", number, *((number + i) % 4 for i in range(3)))
    house.edit(replicas=3)
    await go_on(house, 8)
    assert len(house.reassignments()) == 1
    house.edit(replicas=4)
    await go_on(house, 6)
    (drain,) = house.reassignments()
    assert drain["spec"]["desiredState"] == "Cancelled"
    finish(house, "Cancelled", "False")
    await go_on(house, 6)
    assert house.api.all(PARTITION_REASSIGNMENTS) == []
    house.edit(replicas=3)
    await go_on(house, 8)
    (drain,) = house.reassignments()
    await moved(house, drain)
    finish(house, "Completed", "True")
    await go_on(house, 10)
    assert house.pods().keys() == {0, 1, 2}
    assert house.condition("Ready") == ("True", "Ready")
    assert house.status["summary"] == "3/3"
    assert api.deaths >= 15


async def moved(house: House, drain: dict[str, Any]) -> None:
    """Carry a drain out."""
    for entry in drain["spec"]["plan"]["assignments"]:
        for tp in list(house.cluster.partitions):
            if (tp.topic, tp.partition) == (entry["topic"], entry["partition"]):
                house.cluster.reassign(tp, tuple(entry["replicas"]))
    await house.clock.sleep(5.0)
