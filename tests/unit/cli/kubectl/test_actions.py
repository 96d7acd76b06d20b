from pathlib import Path

import pytest

from ballast.cli.kubectl.actions import Action, ActionRefused, approve, set_desired_state
from ballast.cli.kubectl.client import REASSIGNMENTS, ClusterFlags, Kubectl
from tests.fakes.kubectl import FakeKubectl
from tests.unit.commands.kubectl_documents import PLAN, UID, condition, reassignment

KUBECTL = Kubectl(ClusterFlags())


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    made = FakeKubectl(tmp_path)
    monkeypatch.setenv("PATH", str(made.folder))
    return made


@pytest.mark.parametrize(
    ("action", "before", "desired", "said"),
    [
        (Action.PAUSE, "Running", "Paused", "makes no new moves until resumed"),
        (Action.PAUSE, None, "Paused", "makes no new moves until resumed"),
        (Action.RESUME, "Paused", "Running", "goes on"),
        (Action.CANCEL, "Running", "Cancelled", "takes back what is pending, and ends"),
        (Action.ROLL_BACK, "Cancelled", "RolledBack", "brings everything back"),
    ],
)
def test_desired_state(
    fake: FakeKubectl, action: Action, before: str | None, desired: str, said: str
) -> None:
    fake.add(REASSIGNMENTS, reassignment(spec={"desiredState": before} if before else None))
    words = set_desired_state(KUBECTL, "move", action)
    assert words == f"move: desiredState {before or 'Running'} -> {desired}: {said}"
    assert fake.patches == [
        [REASSIGNMENTS, "move", {"metadata": {"uid": UID}, "spec": {"desiredState": desired}}]
    ]


def test_nothing_to_change(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment(spec={"desiredState": "Paused"}))
    assert (
        set_desired_state(KUBECTL, "move", Action.PAUSE) == "move: desiredState is Paused already"
    )
    assert fake.patches == []


@pytest.mark.parametrize("action", Action)
def test_what_has_ended_is_not_changed(fake: FakeKubectl, action: Action) -> None:
    fake.add(REASSIGNMENTS, reassignment("Completed"))
    with pytest.raises(ActionRefused, match="move has ended: Completed; nothing was changed"):
        set_desired_state(KUBECTL, "move", action)
    with pytest.raises(ActionRefused, match="has ended"):
        approve(KUBECTL, "move", None)
    assert fake.patches == []


@pytest.mark.parametrize("digest", [None, PLAN.digest, PLAN.digest[7:19]])
def test_approving(fake: FakeKubectl, digest: str | None) -> None:
    fake.add(REASSIGNMENTS, reassignment("AwaitingApproval"))
    assert approve(KUBECTL, "move", digest) == [
        "move: 2 partitions, 2 replicas to copy, 2.0GiB, 2 changes of preferred leader",
        f"approved plan {PLAN.digest}",
    ]
    approval = {"approval": {"planDigest": PLAN.digest}}
    assert fake.patches == [[REASSIGNMENTS, "move", {"metadata": {"uid": UID}, "spec": approval}]]


def test_approved_already(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment(spec={"approval": {"planDigest": PLAN.digest}}))
    assert approve(KUBECTL, "move", None)[1] == f"plan {PLAN.digest} is approved already"
    assert fake.patches == []


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, PLAN.digest[7:18], ""])
def test_another_plan_is_not_approved(fake: FakeKubectl, digest: str) -> None:
    fake.add(REASSIGNMENTS, reassignment("AwaitingApproval"))
    with pytest.raises(ActionRefused, match=f"another plan, {PLAN.digest}: look at it again"):
        approve(KUBECTL, "move", digest)
    assert fake.patches == []


def test_no_plan_yet(fake: FakeKubectl) -> None:
    waiting = reassignment(
        "Pending",
        status={"plan": {}},
        conditions=(condition("Accepted", "False", "UnknownTopic", "there is no topic t"),),
    )
    fake.add(REASSIGNMENTS, waiting)
    with pytest.raises(
        ActionRefused, match="no plan to approve yet: Pending - UnknownTopic: there"
    ):
        approve(KUBECTL, "move", None)
