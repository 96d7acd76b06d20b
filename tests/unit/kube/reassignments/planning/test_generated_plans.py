"""The plan of an attempt: chunks, then the index; written again by the next process."""

import zlib

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments.plan_source import load_plan
from ballast.kube.reassignments.planning.generated_plans import (
    delete_plan_chunks,
    find_index,
    write_plan_chunks,
)
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.kube.runtime.planner_process import (
    InfeasiblePlan,
    PlannerRequest,
    WrittenPlan,
    make_plan,
)
from ballast.reassign.spec.plan_manifest import PlanConfigMap
from tests.fakes.crash_point import CrashPoint, Killed
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.reassignment_cluster import FusedKubernetes

METADATA = {"name": "grow", "namespace": "ns", "uid": "u"}
OWNER = ReassignmentObject(document={"metadata": METADATA})
ATTEMPT = Attempt(owner=OWNER, plan="grow-1", number=1)
SNAPSHOT = b"""{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":2},{"id":3}]}
{"topic":"t","replicas":[[1,2],[2,1],[1,2]]}
"""
NONE = InfeasiblePlan(infeasible={"rule": "Replicas", "message": "no"})


def made() -> WrittenPlan:
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    chunk = packer.compress(SNAPSHOT) + packer.flush()
    plan = make_plan(PlannerRequest(options={"strategy": "Rebalance"}, chunks=(chunk,)))
    assert isinstance(plan, WrittenPlan)
    return plan


async def test_it_is_read_as_any_plan_in_chunks() -> None:
    api = FakeKubernetes()
    await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
    found = await find_index(api, ATTEMPT)
    assert found is not None
    assert (found.name, found.snapshot_digest) == ("grow-1-plan", "sha256:s")
    assert found.infeasible is None
    assert '"replicaMoves":2' in found.summary
    plan = await load_plan(api, "ns", PlanConfigMap(name=found.name, key="index.json"))
    assert plan.objects[0].digest == made().digest
    assert len(plan.assignments.targets) == made().partitions
    names = [d["metadata"]["name"] for d in api.all(CONFIG_MAPS)]
    assert names == ["grow-1-plan-0000", "grow-1-plan"]


async def test_that_there_is_none_is_known_by_its_index_alone() -> None:
    api = FakeKubernetes()
    await write_plan_chunks(api, ATTEMPT, NONE, "sha256:s")
    found = await find_index(api, ATTEMPT)
    assert found is not None
    assert found.infeasible == '{"rule":"Replicas","message":"no"}'
    assert len(api.all(CONFIG_MAPS)) == 1


async def test_a_writer_that_was_killed_is_followed() -> None:
    for at in (1, 2):
        crash_point = CrashPoint(at=at)
        api = FusedKubernetes(crash_point)
        try:
            await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
        except Killed:
            assert await find_index(api, ATTEMPT) is None
        await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
        assert await find_index(api, ATTEMPT) is not None
        await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
        assert len(api.all(CONFIG_MAPS)) == 2


async def test_what_holds_something_else_makes_way() -> None:
    api = FakeKubernetes()
    await write_plan_chunks(api, ATTEMPT, NONE, "sha256:s")
    await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
    found = await find_index(api, ATTEMPT)
    assert found is not None
    assert found.infeasible is None


async def test_an_index_of_somebody_else_is_none() -> None:
    api = FakeKubernetes()
    api.put(CONFIG_MAPS, {"metadata": {"name": "grow-1-plan", "namespace": "ns"}})
    assert await find_index(api, ATTEMPT) is None


async def test_it_is_taken_away_whole() -> None:
    api = FakeKubernetes()
    await write_plan_chunks(api, ATTEMPT, made(), "sha256:s")
    second = Attempt(owner=OWNER, plan="grow-2", number=2)
    await write_plan_chunks(api, second, NONE, "sha256:s")
    await delete_plan_chunks(api, ATTEMPT)
    assert [d["metadata"]["name"] for d in api.all(CONFIG_MAPS)] == ["grow-2-plan"]
    deleted = [name for verb, _, _, name in api.requests if verb == "delete"]
    assert deleted[0] == "grow-1-plan"
