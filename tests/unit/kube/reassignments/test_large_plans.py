"""What is said of a plan that is too large to be executed in one piece."""

from typing import Any

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments import plan_source
from ballast.kube.reassignments.large_plans import large_plan_findings
from ballast.reassign.plan.summary import PlanSummary
from ballast.reassign.spec.spec import Approval, ApprovalPolicy, DesiredState, Settings
from ballast.reassign.state.conditions import ConditionType
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment
from tests.unit.kube.reassignments.test_plan_source import chunked, large_plan

DIGEST = "sha256:" + "1" * 64
SUMMARY = PlanSummary(
    digest=DIGEST,
    partitions=1_000_000,
    replica_moves=300_000,
    leader_changes=5,
    log_dir_moves=0,
    topics={},
    brokers={},
)
MANUAL = ApprovalPolicy.MANUAL


@pytest.mark.parametrize(
    ("settings", "approved", "succeeded"),
    [
        (
            Settings(approval=Approval(policy=MANUAL)),
            "False AwaitingApproval",
            "Unknown AwaitingApproval",
        ),
        (
            Settings(approval=Approval(plan_digest="sha256:" + "0" * 64)),
            "False DigestMismatch",
            "Unknown AwaitingApproval",
        ),
        (
            Settings(approval=Approval(max_replica_moves=299_999)),
            "False LimitExceeded",
            "Unknown AwaitingApproval",
        ),
        (
            Settings(approval=Approval(max_bytes_to_move=1)),
            "False LimitExceeded",
            "Unknown AwaitingApproval",
        ),
        (Settings(desired_state=DesiredState.PAUSED), "True Automatic", "Unknown Paused"),
        (Settings(desired_state=DesiredState.CANCELLED), "", "False Cancelled"),
        (Settings(desired_state=DesiredState.ROLLED_BACK), "", "False RolledBack"),
    ],
)
def test_it_is_shown_while_it_may_not_run(
    settings: Settings, approved: str, succeeded: str
) -> None:
    found = large_plan_findings(settings, SUMMARY)
    assert found is not None
    said = {kind: f"{finding.status} {finding.reason}" for kind, finding in found.items()}
    assert said[ConditionType.ACCEPTED] == "True Valid"
    assert said[ConditionType.PLANNED] == "True PlanStored"
    assert said.get(ConditionType.APPROVED, "") == approved
    assert said[ConditionType.SUCCEEDED] == succeeded
    assert said[ConditionType.STALLED] == "False Progressing"


@pytest.mark.parametrize(
    "approval", [Approval(), Approval(policy=MANUAL, plan_digest=DIGEST)], ids=["auto", "digest"]
)
def test_it_may_run_once_it_is_approved(approval: Approval) -> None:
    assert large_plan_findings(Settings(approval=approval), SUMMARY) is None


async def test_it_is_shown_until_it_is_approved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_source, "EXECUTABLE_PARTITIONS", 1500)
    plan = large_plan(3000)
    env = Environment()
    for document in chunked(plan)[1]:
        document["metadata"]["namespace"] = NAMESPACE
        env.api.put(CONFIG_MAPS, document)
    reference: dict[str, Any] = {"plan": {"configMapRef": {"name": "plan"}}}
    env.put(**reference, approval={"policy": "Manual"})
    loop = env.loop()
    await env.reconcile(loop, 3)
    status = env.reassignment().status
    assert status["plan"]["digest"] == plan.digest
    assert status["plan"]["partitions"] == 3000
    assert env.reason("Approved") == "False AwaitingApproval"
    writes = len(env.crash_point.effects)
    await env.reconcile(loop, 10)
    assert len(env.crash_point.effects) == writes
    env.delete()
    assert await env.reconcile(loop, 1) is None
    assert env.find() is None
