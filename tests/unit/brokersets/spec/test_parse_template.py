import re
from typing import Any

import pytest

from ballast.brokersets.errors import InvalidBrokerSet
from tests.unit.brokersets.builders import broker_set

AFFINITY: dict[str, Any] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}}


def test_what_pods_shall_have_is_kept_as_it_is() -> None:
    template = broker_set(
        template={
            "pod": {
                "labels": {"team": "data"},
                "annotations": {"example.com/owner": "x"},
                "affinity": AFFINITY,
                "tolerations": [{"key": "dedicated", "operator": "Exists"}],
                "topologySpreadConstraints": [],
                "priorityClassName": "high",
                "resources": {"requests": {"cpu": "500m", "memory": 1024}},
            }
        }
    ).template
    assert template.labels == {"team": "data"}
    assert template.annotations == {"example.com/owner": "x"}
    assert template.affinity == AFFINITY
    assert template.tolerations == ({"key": "dedicated", "operator": "Exists"},)
    assert template.topology_spread_constraints == ()
    assert template.priority_class_name == "high"
    assert template.resources == {"requests": {"cpu": "500m", "memory": 1024}}


def test_nothing_is_asked_for() -> None:
    template = broker_set().template
    assert (template.labels, template.tolerations, template.resources) == ({}, (), None)
    assert template.topology_spread_constraints is None


@pytest.mark.parametrize(
    ("pod", "path"),
    [
        ({"containers": []}, "containers"),
        ({"labels": {"ballast.dev/broker-set": "x"}}, "labels.ballast.dev/broker-set"),
        ({"labels": {"app.kubernetes.io/name": "x"}}, "labels.app.kubernetes.io/name"),
        ({"labels": {"a": 5}}, "labels.a"),
        ({"labels": []}, "labels"),
        ({"labels": {str(i): "" for i in range(33)}}, "labels"),
        ({"annotations": {"ballast.dev/config-digest": ""}}, "annotations.ballast.dev"),
        ({"affinity": "x"}, "affinity"),
        ({"env": [{"name": "POD_NAME", "value": "x"}]}, "env[0].name"),
        ({"env": [{"value": "x"}]}, "env[0].name"),
        ({"env": [{"name": "BALLAST_SERVICE"}]}, "env[0].name"),
        ({"volumes": [{"name": "data"}]}, "volumes[0].name"),
        ({"volumeMounts": [{"name": "config", "mountPath": "/x"}]}, "volumeMounts[0].name"),
        ({"sidecars": [{"name": "broker"}]}, "sidecars[0].name"),
        ({"volumes": [{"name": "x", "hostPath": {"path": "/"}}]}, "volumes[0].hostPath"),
        ({"securityContext": {"runAsUser": 0}}, "securityContext.runAsUser"),
        ({"containerSecurityContext": {"privileged": True}}, "containerSecurityContext.privileged"),
        (
            {"sidecars": [{"name": "x", "securityContext": {"runAsGroup": 0}}]},
            "sidecars[0].securityContext.runAsGroup",
        ),
        ({"imagePullPolicy": "Sometimes"}, "imagePullPolicy"),
        ({"imagePullSecrets": ["x"]}, "imagePullSecrets[0]"),
        ({"nodeSelector": {"a": 1}}, "nodeSelector.a"),
        ({"probes": {"liveness": {"failureThreshold": 0}}}, "probes.liveness.failureThreshold"),
        ({"probes": {"liveness": {"httpGet": {}}}}, "probes.liveness.httpGet"),
        ({"tolerations": {}}, "tolerations"),
        ({"tolerations": ["x"]}, "tolerations[0]"),
        ({"topologySpreadConstraints": [{}] * 33}, "topologySpreadConstraints"),
        ({"priorityClassName": "system-node-critical"}, "priorityClassName"),
        ({"resources": {"claims": []}}, "resources.claims"),
        ({"resources": {"requests": {"cpu": "many"}}}, "resources.requests.cpu"),
        ({"resources": {"limits": {"gpu": 1}}}, "resources.limits.gpu"),
        ({"resources": {"limits": 5}}, "resources.limits"),
    ],
)
def test_what_pods_may_not_have(pod: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidBrokerSet) as caught:
        broker_set(template={"pod": pod})
    assert caught.value.errors[0].path.startswith(f"spec.template.pod.{path}")


@pytest.mark.parametrize(
    ("policy", "path"),
    [
        ({"enabled": "no"}, "enabled"),
        ({"clients": {"from": {}}}, "clients.from"),
        ({"clients": {"from": [{}]}}, "clients.from[0]"),
        ({"metrics": {"from": [{"pods": {}}]}}, "metrics.from[0]"),
    ],
)
def test_peers_that_are_none_are_refused(policy: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidBrokerSet, match=re.escape(f"spec.networkPolicy.{path}")):
        broker_set(networkPolicy=policy)


def test_a_set_may_do_without_a_network_policy() -> None:
    assert broker_set().network.is_managed
    assert not broker_set(networkPolicy={"enabled": False}).network.is_managed
