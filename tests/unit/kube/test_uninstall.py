"""Finalizers go after the operator has gone, and nothing else."""

import pytest

from ballast.kube.api.errors import ApiUnavailable, Conflict, NotFound
from ballast.kube.api.resources import (
    BROKER_SETS,
    PARTITION_REASSIGNMENTS,
    PODS,
    Document,
    Resource,
)
from ballast.kube.uninstall import (
    MAX_ATTEMPTS,
    OPERATOR_TIMEOUT_S,
    OperatorPods,
    moves_under_way,
    remove_finalizers,
    wait_for_end,
)
from tests.fakes.kubernetes import FakeKubernetes

OURS = ("ballast.dev/operator", "ballast.dev/cleanup")
PODS_OF_THE_OPERATOR = OperatorPods(namespace="system", labels="component=operator")


class SteppingClock:
    """Sleeping is what makes the time pass; a pod may end then."""

    def __init__(self, api: FakeKubernetes, pod_ends_after_s: float) -> None:
        self.api = api
        self.seconds = 0.0
        self.pod_ends_after_s = pod_ends_after_s

    def now(self) -> float:
        return self.seconds

    def wall_ms(self) -> int:
        return int(self.seconds * 1000)

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.seconds >= self.pod_ends_after_s and self.api.find(PODS, "system", "pod"):
            await self.api.delete(PODS, "system", "pod")


def put(api: FakeKubernetes, resource: Resource, namespace: str, *finalizers: str) -> None:
    metadata = {"namespace": namespace, "name": "a", "finalizers": list(finalizers)}
    api.put(resource, {"metadata": metadata, "spec": {"n": 1}})


def put_pod(api: FakeKubernetes) -> None:
    labels = {"component": "operator"}
    api.put(PODS, {"metadata": {"namespace": "system", "name": "pod", "labels": labels}})


def found(api: FakeKubernetes, resource: Resource, namespace: str) -> Document:
    document = api.find(resource, namespace, "a")
    assert document is not None
    return document


async def test_ours_go_and_others_stay() -> None:
    api = FakeKubernetes()
    put(api, PARTITION_REASSIGNMENTS, "x", "else.where/one", *OURS)
    put(api, BROKER_SETS, "x", OURS[0])
    put(api, BROKER_SETS, "y", OURS[0])
    put(api, BROKER_SETS, "z")
    assert await remove_finalizers(api, ["x", "z"]) == 2
    moved = found(api, PARTITION_REASSIGNMENTS, "x")
    assert moved["metadata"]["finalizers"] == ["else.where/one"]
    assert moved["spec"] == {"n": 1}
    assert not found(api, BROKER_SETS, "x")["metadata"].get("finalizers")
    assert found(api, BROKER_SETS, "y")["metadata"]["finalizers"] == [OURS[0]]


async def test_all_namespaces() -> None:
    api = FakeKubernetes()
    put(api, BROKER_SETS, "x", OURS[0])
    put(api, PARTITION_REASSIGNMENTS, "y", OURS[0])
    assert await remove_finalizers(api, [None]) == 2
    assert await remove_finalizers(api, [None]) == 0


async def test_what_is_changed_meanwhile_is_read_again() -> None:
    api = FakeKubernetes()
    put(api, BROKER_SETS, "x", OURS[0])
    api.fail_next("patch", Conflict("changed"), times=2)
    assert await remove_finalizers(api, ["x"]) == 1


async def test_what_is_gone_meanwhile_is_no_matter() -> None:
    api = FakeKubernetes()
    put(api, BROKER_SETS, "x", OURS[0])
    api.fail_next("patch", NotFound("gone"))
    assert await remove_finalizers(api, ["x"]) == 0


async def test_what_changes_for_ever_is_given_up() -> None:
    api = FakeKubernetes()
    put(api, BROKER_SETS, "x", OURS[0])
    api.fail_next("patch", Conflict("changed"), times=MAX_ATTEMPTS)
    with pytest.raises(ApiUnavailable, match="x/a"):
        await remove_finalizers(api, ["x"])


async def test_the_end_of_the_operator_is_waited_for() -> None:
    api = FakeKubernetes()
    put_pod(api)
    clock = SteppingClock(api, pod_ends_after_s=3)
    assert await wait_for_end(api, clock, PODS_OF_THE_OPERATOR)
    assert clock.now() == 3


async def test_an_operator_that_does_not_end() -> None:
    api = FakeKubernetes()
    put_pod(api)
    clock = SteppingClock(api, pod_ends_after_s=1e9)
    assert not await wait_for_end(api, clock, PODS_OF_THE_OPERATOR)
    assert clock.now() == OPERATOR_TIMEOUT_S


def reassignment(name: str, state: str | None, *finalizers: str) -> Document:
    metadata = {"namespace": "x", "name": name, "generation": 1, "finalizers": list(finalizers)}
    document: Document = {"metadata": metadata, "spec": {}}
    if state is not None:
        condition = {
            "type": "Succeeded",
            "status": "Unknown",
            "reason": state,
            "message": "",
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        document["status"] = {"observedGeneration": 1, "conditions": [condition]}
    return document


async def test_what_has_begun_and_not_ended_is_under_way() -> None:
    api = FakeKubernetes()
    cleanup = "ballast.dev/cleanup"
    for document in (
        reassignment("begun", None, cleanup),
        reassignment("executing", "Executing", cleanup),
        reassignment("completed", "Completed", cleanup),
        reassignment("waiting", "Pending", "ballast.dev/operator"),
    ):
        api.put(PARTITION_REASSIGNMENTS, document)
    assert await moves_under_way(api, ["x", "y"]) == [("x", "begun"), ("x", "executing")]
