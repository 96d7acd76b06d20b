"""The chart: its own test, an upgrade, and an uninstall that leaves data and nothing stuck."""

import pytest

from tests.e2e.cluster import CHART, Namespace, call, eventually
from tests.e2e.installation import (
    OPERATOR,
    OPERATOR_PODS,
    RELEASE,
    broker_pods,
    broker_set,
    helm_install,
    installed,
    start_brokers,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def test_lint(kubernetes: tuple[str, ...]) -> None:
    assert kubernetes
    assert "0 chart(s) failed" in call("helm", "lint", "--strict", str(CHART))


def test_helm_test(ballast: Namespace) -> None:
    said = call("helm", "test", RELEASE, "-n", ballast.name, "--timeout", "2m", timeout_s=130)
    assert "Phase:          Succeeded" in said


def test_uninstall_leaves_brokers_and_nothing_stuck(kubernetes: tuple[str, ...]) -> None:
    assert kubernetes
    with installed("operator.replicas=1") as namespace:
        start_brokers(namespace, broker_set(replicas=1, config={}))
        helm_install(namespace, "operator.replicas=2")
        namespace.rollout("deployment", OPERATOR, timeout_s=120)
        assert namespace.get("bset", "prod")["metadata"]["finalizers"]
        call("helm", "uninstall", RELEASE, "-n", namespace.name, timeout_s=330)
        assert namespace.list("pods", OPERATOR_PODS) == []
        assert not namespace.get("bset", "prod")["metadata"].get("finalizers")
        assert len(broker_pods(namespace)) == 1
        namespace.delete("bset", "prod", timeout_s=30)
        eventually("the broker's end", lambda: not broker_pods(namespace), timeout_s=120)
        claims = {claim["metadata"]["name"] for claim in namespace.list("pvc")}
        assert {"data-prod-broker-0", "data-ballast-zookeeper-0"} <= claims
