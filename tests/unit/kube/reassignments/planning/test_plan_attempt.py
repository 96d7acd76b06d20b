"""What the steps towards a plan are given."""

from dataclasses import replace

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.reassignments.planning.plan_attempt import AttemptFailed, PlanRequest
from ballast.reassign.generate.generate_manifest import PlanToGenerate
from ballast.reassign.plan.plan import Plan
from ballast.reassign.spec.spec import Approval, Settings
from ballast.reassign.state.persisted_state import PersistedState

SEEN = ReassignmentObject(document={"metadata": {"name": "grow", "namespace": "ns", "uid": "u"}})
CASE = PlanRequest(
    reassignment=SEEN,
    generate=PlanToGenerate(strategy="Rebalance"),
    settings=Settings(),
    cluster=ClusterAddress(bootstrap="b:1", epoch=1, is_deleted=False),
    memory=None,
)


def test_an_attempt_has_a_name_of_its_own() -> None:
    assert CASE.attempt(1).plan != CASE.attempt(2).plan
    assert CASE.attempt(2).number == 2
    assert CASE.attempt(2).owner is SEEN


def test_a_plan_that_is_remembered_has_not_begun_yet() -> None:
    memory = PersistedState(name="grow", plan=Plan(moves=()))
    assert not replace(CASE, memory=memory).has_begun
    assert replace(CASE, memory=replace(memory, start_time_ms=5)).has_begun


def test_a_digest_is_an_approval() -> None:
    assert not CASE.is_approved
    approval = Approval(plan_digest="sha256:" + "0" * 64)
    assert replace(CASE, settings=Settings(approval=approval)).is_approved


def test_a_failure_has_a_reason() -> None:
    error = AttemptFailed("ImagePull", "no such image")
    assert (error.reason, str(error)) == ("ImagePull", "no such image")
