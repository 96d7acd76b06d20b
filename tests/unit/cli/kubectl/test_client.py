from pathlib import Path

import pytest

from ballast.cli.kubectl.client import (
    BROKER_SETS,
    REASSIGNMENTS,
    ClusterFlags,
    Kubectl,
    KubectlFailed,
    ObjectNotFound,
)
from tests.fakes.kubectl import FakeKubectl
from tests.unit.commands.kubectl_documents import broker_set, reassignment


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    made = FakeKubectl(tmp_path)
    monkeypatch.setenv("PATH", str(made.folder))
    return made


def test_getting_with_the_users_flags(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment())
    flags = ClusterFlags(namespace="a", context="b", kubeconfig="/c d")
    assert Kubectl(flags).get(REASSIGNMENTS, "move") == reassignment()
    assert fake.calls == [
        [
            "get",
            *("--namespace=a", "--context=b", "--kubeconfig=/c d", "--request-timeout=30s"),
            *(REASSIGNMENTS, "--output=json", "--", "move"),
        ]
    ]


def test_inner_flags_go_before_outer_ones() -> None:
    inner, outer = ClusterFlags(namespace="a"), ClusterFlags(namespace="x", context="y")
    assert inner.over(outer) == ClusterFlags(namespace="a", context="y")
    assert ClusterFlags().arguments() == []


def test_listing(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment(name="b"))
    fake.add(REASSIGNMENTS, reassignment(name="a"))
    found = Kubectl(ClusterFlags()).list(REASSIGNMENTS)
    assert [item["metadata"]["name"] for item in found] == ["a", "b"]
    assert Kubectl(ClusterFlags()).list(BROKER_SETS) == []


def test_patching(fake: FakeKubectl) -> None:
    fake.add(BROKER_SETS, broker_set())
    patch = {"spec": {"replicas": 4}}
    assert Kubectl(ClusterFlags()).patch(BROKER_SETS, "prod", patch) == broker_set()
    assert fake.patches == [[BROKER_SETS, "prod", patch]]
    assert "--type=merge" in fake.calls[0]


def test_what_kubectl_says_is_said(fake: FakeKubectl) -> None:
    kubectl = Kubectl(ClusterFlags())
    with pytest.raises(ObjectNotFound, match=r"Error from server \(NotFound\)"):
        kubectl.get(REASSIGNMENTS, "nowhere")
    fake.fail("Error from server (Forbidden): not you")
    with pytest.raises(KubectlFailed, match="not you"):
        kubectl.list(REASSIGNMENTS)
    fake.say_nonsense()
    with pytest.raises(KubectlFailed, match="kubectl get: the answer is not JSON"):
        kubectl.list(REASSIGNMENTS)


def test_without_kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KubectlFailed, match="kubectl is not on the PATH"):
        Kubectl(ClusterFlags()).list(REASSIGNMENTS)
