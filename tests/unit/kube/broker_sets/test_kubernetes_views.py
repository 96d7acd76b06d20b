from typing import Any

import pytest

from ballast.brokersets.observation.observation import GateView, PodView, Purpose, VolumeView
from ballast.kube.broker_sets.kubernetes_views import (
    applied_digests,
    pod_views,
    reassignment_views,
    stateful_set_view,
    volume_views,
)


def pod(name: str = "prod-broker-1", **status: Any) -> dict[str, Any]:
    labels = {"controller-revision-hash": "abc"}
    metadata = {"name": name, "uid": f"uid of {name}", "labels": labels}
    return {"metadata": metadata, "spec": {"nodeName": "node-1"}, "status": status}


def container(state: dict[str, Any], name: str = "broker") -> dict[str, Any]:
    return {"name": name, "state": state, "containerID": "containerd://5e1f"}


def test_a_stateful_set() -> None:
    claim = {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    spec = {"replicas": 3, "updateStrategy": strategy, "volumeClaimTemplates": [claim]}
    status = {"currentRevision": "a", "updateRevision": "b"}
    view = stateful_set_view({"spec": spec, "status": status})
    assert (view.replicas, view.partition, view.storage_size) == (3, 2, "1Gi")
    assert (view.current_revision, view.update_revision) == ("a", "b")


def test_a_stateful_set_that_was_just_made() -> None:
    view = stateful_set_view({"spec": {"updateStrategy": {"type": "OnDelete"}}})
    assert (view.replicas, view.partition, view.storage_size) == (1, None, None)
    assert view.update_revision == ""
    assert stateful_set_view({"spec": {"replicas": 2}}).partition == 0


def test_a_pod_that_runs() -> None:
    conditions = [
        {"type": "Ready", "status": "False"},
        {"type": "ContainersReady", "status": "True"},
        {
            "type": "ballast.dev/in-sync",
            "status": "True",
            "reason": "InSync",
            "message": "well",
        },
    ]
    running = container({"running": {"startedAt": "2026-01-01T00:00:00Z"}})
    document = pod(phase="Running", conditions=conditions, containerStatuses=[running])
    assert pod_views("prod", [document]) == (
        PodView(
            name="prod-broker-1",
            uid="uid of prod-broker-1",
            ordinal=1,
            revision="abc",
            node="node-1",
            phase="Running",
            is_ready=False,
            containers_ready=True,
            container_id="5e1f",
            gate=GateView(is_true=True, reason="InSync", message="well"),
        ),
    )


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (
            {"containerStatuses": [container({"waiting": {"reason": "ImagePullBackOff"}})]},
            "ImagePullBackOff",
            "",
        ),
        (
            {"containerStatuses": [container({"terminated": {"reason": "E", "message": "why"}})]},
            "E",
            "why",
        ),
        (
            {"containerStatuses": [container({"waiting": {"reason": "ContainerCreating"}})]},
            None,
            "",
        ),
        (
            {"containerStatuses": [container({"waiting": {"reason": "Bad"}}, name="sidecar")]},
            None,
            "",
        ),
        (
            {
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/3 nodes",
                    }
                ]
            },
            "Unschedulable",
            "0/3 nodes",
        ),
        ({}, None, ""),
        ({"containerStatuses": None, "conditions": ["?"]}, None, ""),
    ],
    ids=["waiting", "terminated", "creating", "other", "unschedulable", "new", "broken"],
)
def test_a_pod_that_does_not_run(status: dict[str, Any], reason: str | None, message: str) -> None:
    (view,) = pod_views("prod", [pod(**status)])
    assert (view.waiting_reason, view.waiting_message) == (reason, message)
    assert (view.container_id, view.containers_ready, view.gate) == ("", False, None)


def test_pods_of_the_set_only_by_ordinal() -> None:
    going = pod("prod-broker-10")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    found = [going, pod("prod-broker-2"), pod("prod-broker-x"), pod("other-broker-0"), pod("p")]
    assert [(view.ordinal, view.is_terminating) for view in pod_views("prod", found)] == [
        (2, False),
        (10, True),
    ]


def test_volumes() -> None:
    def claim(name: str, **metadata: str) -> dict[str, Any]:
        return {
            "metadata": {"name": name, **metadata},
            "spec": {"resources": {"requests": {"storage": "1Gi"}}},
        }

    found = [
        claim("data-prod-broker-1"),
        claim("data-prod-broker-0"),
        claim("data-prod-broker-2", deletionTimestamp="2026-01-01T00:00:00Z"),
        claim("logs-prod-broker-3"),
    ]
    assert volume_views("prod", found) == tuple(
        VolumeView(name=f"data-prod-broker-{number}", ordinal=number, requested="1Gi")
        for number in (0, 1)
    )


def reassignment(name: str, **changes: Any) -> dict[str, Any]:
    metadata = {
        "name": name,
        "labels": {"ballast.dev/purpose": "drain"},
        "annotations": {"ballast.dev/broker-ids": "3,4"},
        "ownerReferences": [{"uid": "set"}],
        **changes,
    }
    return {"metadata": metadata}


def test_the_sets_own_reassignments() -> None:
    running = reassignment("prod-drain-3")
    done = reassignment("prod-drain-2")
    done["metadata"]["annotations"] |= {"ballast.dev/withdrawn": "true"}
    condition = {"type": "Succeeded", "status": "True", "reason": "Completed", "message": "m"}
    done["status"] = {"conditions": [condition], "completionTime": "1970-01-01T00:00:02Z"}
    others = [
        reassignment("users", labels={}),
        reassignment("odd", labels={"ballast.dev/purpose": "holiday"}),
        reassignment("of another set", ownerReferences=[{"uid": "other"}]),
    ]
    first, second = reassignment_views("set", [running, done, *others])
    assert (first.name, first.state, first.message) == ("prod-drain-2", "Completed", "m")
    assert (first.is_final, first.is_withdrawn, first.completion_ms) == (True, True, 2000)
    assert (second.name, second.state, second.is_final) == ("prod-drain-3", "Pending", False)
    assert (second.purpose, second.broker_ids) == (Purpose.DRAIN, frozenset({3, 4}))
    assert second.completion_ms is None


def test_what_was_applied() -> None:
    annotations = {"ballast.dev/applied-digest": "d"}
    found = [
        {"kind": "Service", "metadata": {"name": "a", "annotations": annotations}},
        {"kind": "ConfigMap", "metadata": {"name": "b"}},
    ]
    assert applied_digests(found) == {("Service", "a"): "d", ("ConfigMap", "b"): ""}
