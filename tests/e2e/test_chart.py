"""The chart: its own test, upgrades, ZooKeeper that grows, and an uninstall that keeps brokers."""

import json
from collections.abc import Iterator

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import CHART, CommandFailed, Document, Namespace, call, eventually
from tests.e2e.installation import (
    BROKER_SET,
    OPERATOR,
    OPERATOR_PODS,
    RELEASE,
    broker_pods,
    broker_set,
    helm_install,
    installed,
    reassignment,
    start_brokers,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

ZOOKEEPER_PODS = "app.kubernetes.io/component=zookeeper"
REPORT = (
    "import urllib.request as u; print(u.urlopen('http://localhost:8080/member').read().decode())"
)


@pytest.fixture
def namespace(kubernetes: tuple[str, ...]) -> Iterator[Namespace]:
    """Install the chart with one ZooKeeper server and three brokers, apart from other tests'."""
    assert kubernetes
    with installed("operator.replicas=1", "zookeeper.replicas=1") as made:
        start_brokers(made, broker_set())
        yield made


@pytest.fixture
def clients(namespace: Namespace) -> Clients:
    made = Clients(namespace, f"{BROKER_SET}-bootstrap:9092")
    made.start()
    return made


def voters(namespace: Namespace, ordinal: int) -> list[int]:
    """Return the ids of the ensemble's servers as one of them knows them."""
    words = ("exec", f"{RELEASE}-zookeeper-{ordinal}", "--", "python", "-c", REPORT)
    report: Document = json.loads(namespace.kubectl(*words))
    return sorted(int(number) for number in report["servers"] or ())


def uids(namespace: Namespace, labels: str) -> dict[str, str]:
    pods = namespace.list("pods", labels)
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


def uninstall(namespace: Namespace) -> None:
    call("helm", "uninstall", RELEASE, "-n", namespace.name, timeout_s=330)


def test_lint(kubernetes: tuple[str, ...]) -> None:
    assert kubernetes
    assert "0 chart(s) failed" in call("helm", "lint", "--strict", str(CHART))


def test_helm_test(ballast: Namespace) -> None:
    said = call("helm", "test", RELEASE, "-n", ballast.name, "--timeout", "2m", timeout_s=130)
    assert "Phase:          Succeeded" in said


def test_zookeeper_grows_and_the_operator_is_upgraded_under_load(
    namespace: Namespace, clients: Clients
) -> None:
    clients.create_topic("grown", "1:2:3,2:3:1", "min.insync.replicas=2")
    first = uids(namespace, ZOOKEEPER_PODS)
    operators = uids(namespace, OPERATOR_PODS)
    with clients.load("grown", 2) as load:
        for replicas in (3, 5):
            helm_install(namespace, "operator.replicas=1", f"zookeeper.replicas={replicas}")
            eventually(
                f"{replicas} voters",
                lambda: len(voters(namespace, 0)) == replicas,  # noqa: B023 - called at once
                timeout_s=120,
            )
        helm_install(
            namespace,
            *("operator.replicas=1", "zookeeper.replicas=5", "operator.podLabels.new=yes"),
        )
        namespace.rollout("deployment", OPERATOR, timeout_s=120)
        load.wait_for_more()
    load.assert_nothing_lost()
    assert first.items() <= uids(namespace, ZOOKEEPER_PODS).items(), "no server was restarted"
    assert not operators.keys() & uids(namespace, OPERATOR_PODS).keys()
    with pytest.raises(CommandFailed, match="cannot be lowered"):
        helm_install(namespace, "operator.replicas=1", "zookeeper.replicas=3")


def test_brokers_go_on_after_an_uninstallation_and_the_next_release_takes_over(
    namespace: Namespace, clients: Clients
) -> None:
    clients.create_topic("left", "1:2:3,2:3:1", "min.insync.replicas=2")
    before = uids(namespace, ZOOKEEPER_PODS)
    with clients.load("left", 2) as load:
        uninstall(namespace)
        assert namespace.list("pods", OPERATOR_PODS) == []
        assert not namespace.get("bset", BROKER_SET)["metadata"].get("finalizers")
        load.wait_for_more(200)
        helm_install(namespace, "operator.replicas=1", "zookeeper.replicas=1")
        load.wait_for_more()
    load.assert_nothing_lost()
    assert uids(namespace, ZOOKEEPER_PODS) == before
    namespace.wait("bset", BROKER_SET, "Ready", timeout_s=120)


def test_an_uninstallation_is_refused_while_partitions_move(
    namespace: Namespace, clients: Clients
) -> None:
    clients.create_topic("moving", "1:2")
    clients.fill("moving", 1, 20_000_000)
    where = ("-n", namespace.name)
    throttle = {"throttle": {"rate": "100Ki"}}
    namespace.apply(reassignment("move", {("moving", 0): (1, 3)}, execution=throttle))
    namespace.wait("preassign", "move", "Progressing", timeout_s=60)
    with pytest.raises(CommandFailed, match="ballast-uninstall-check failed"):
        uninstall(namespace)
    said = namespace.kubectl("logs", f"job/{RELEASE}-uninstall-check")
    assert f"PartitionReassignment {namespace.name}/move has begun" in said
    assert len(namespace.list("pods", OPERATOR_PODS)) == 1
    (last,) = json.loads(call("helm", "history", RELEASE, *where, "--max=1", "-o", "json"))
    call("helm", "rollback", RELEASE, str(last["revision"]), *where)
    helm_install(namespace, "operator.replicas=1", "zookeeper.replicas=1")
    namespace.delete("preassign", "move", timeout_s=60)
    uninstall(namespace)


def test_nothing_that_was_deleted_is_stuck_and_the_data_stays(namespace: Namespace) -> None:
    uninstall(namespace)
    namespace.delete("bset", BROKER_SET, timeout_s=30)
    eventually("the brokers' end", lambda: not broker_pods(namespace), timeout_s=180)
    claims = {claim["metadata"]["name"] for claim in namespace.list("pvc")}
    assert {"data-prod-broker-0", "data-ballast-zookeeper-0"} <= claims
