"""An operator is killed at any write while a plan is made: the same plan is made and executed."""

from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeCluster
from tests.fakes.crash_point import CrashPoint
from tests.unit.kube.reassignment_cluster import Environment
from tests.unit.kube.reassignments.planning.test_plan_generator import ADD, P, held, stored


def lived(at: int | None, *, after: bool = False) -> Environment:
    made = FakeCluster(1, 2, 3, 4, copy_rate=10_000.0)
    for tp in P:
        made.add(tp.topic, tp.partition, *((tp.partition + i) % 3 + 1 for i in range(2)), size=1000)
    env = Environment(made, CrashPoint(at=at, after=after))
    env.put("move", **ADD, approval={"policy": "Automatic"})
    env.live(lambda env: env.state() is LifecycleState.COMPLETED)
    return env


def test_killed_at_any_write_it_comes_to_the_same_end() -> None:
    reference = lived(None)
    digest = reference.reassignment().status["plan"]["digest"]
    for after in (False, True):
        for at in range(1, len(reference.crash_point.effects) + 1):
            env = lived(at, after=after)
            where = f"killed {'after' if after else 'at'} {at}: {env.crash_point.effects[at - 1]}"
            assert env.reassignment().status["plan"]["digest"] == digest, where
            assert held(env) == {1: 4, 2: 4, 3: 4, 4: 4}, where
            assert env.reassignment().status["planning"]["attempt"] == 1, where
            assert len(stored(env, "snapshot")) == 1, where
