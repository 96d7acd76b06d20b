"""Whoever is killed at any write while a plan is made, the same plan is made and carried out."""

from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeCluster
from tests.fakes.fuse import Fuse
from tests.unit.kube.reassignment_house import House
from tests.unit.kube.reassignments.planning.test_plan_generator import ADD, P, held, stored


def lived(at: int | None, *, after: bool = False) -> House:
    made = FakeCluster(1, 2, 3, 4, copy_rate=10_000.0)
    for tp in P:
        made.add(tp.topic, tp.partition, *((tp.partition + i) % 3 + 1 for i in range(2)), size=1000)
    house = House(made, Fuse(at=at, after=after))
    house.put("move", **ADD, approval={"policy": "Automatic"})
    house.live(lambda house: house.state() is LifecycleState.COMPLETED)
    return house


def test_killed_at_any_write_it_comes_to_the_same_end() -> None:
    reference = lived(None)
    digest = reference.seen().status["plan"]["digest"]
    for after in (False, True):
        for at in range(1, len(reference.fuse.effects) + 1):
            house = lived(at, after=after)
            where = f"killed {'after' if after else 'at'} {at}: {house.fuse.effects[at - 1]}"
            assert house.seen().status["plan"]["digest"] == digest, where
            assert held(house) == {1: 4, 2: 4, 3: 4, 4: 4}, where
            assert house.seen().status["planning"]["attempt"] == 1, where
            assert len(stored(house, "snapshot")) == 1, where
