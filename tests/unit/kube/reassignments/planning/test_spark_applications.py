"""The Spark engine on Kubernetes: what it asks the API for."""

import pytest

from ballast.kube.api.errors import AlreadyExists, ApiUnavailable, Forbidden, NotFound
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import PODS, SPARK_APPLICATIONS
from ballast.kube.reassignments.planning.spark_applications import KubeflowSpark
from ballast.reassign.generate.generate_manifest import SparkJob
from ballast.reassign.generate.spark_application import JobPhase, JobRequest, SparkSettings
from tests.fakes.kubernetes import FakeKubernetes

METADATA = {"name": "grow", "namespace": "ns", "uid": "u"}
OWNER = ReassignmentObject(document={"metadata": METADATA})
REQUEST = JobRequest(
    plan="grow-1",
    namespace="ns",
    reassignment="grow",
    uid="u",
    attempt=1,
    options={"strategy": "Rebalance"},
    job=SparkJob(),
)


def spark(api: FakeKubernetes, image: str = "spark:1") -> KubeflowSpark:
    return KubeflowSpark(api, SparkSettings(image=image))


async def test_it_is_served_where_kind_rights_and_image_are_there() -> None:
    api = FakeKubernetes()
    assert await spark(api).is_served("ns")
    assert not await spark(api, image="").is_served("ns")
    for error in (NotFound("no such kind"), Forbidden("no")):
        api.fail_next("list", error)
        assert not await spark(api).is_served("ns")
    api.fail_next("list")
    with pytest.raises(ApiUnavailable):
        await spark(api).is_served("ns")


async def test_a_job_is_made_once() -> None:
    api = FakeKubernetes()
    assert await spark(api).submit(REQUEST, OWNER) is None
    assert await spark(api).submit(REQUEST, OWNER) is None
    (made,) = api.all(SPARK_APPLICATIONS)
    assert made["metadata"]["name"] == "grow-1"
    assert made["metadata"]["ownerReferences"][0]["uid"] == "u"
    assert made["spec"]["image"] == "spark:1"


async def test_what_the_server_says_against_it_is_a_failure_of_the_job() -> None:
    api = FakeKubernetes()
    api.fail_next("create", Forbidden("exceeded quota"))
    refused = await spark(api).submit(REQUEST, OWNER)
    assert refused is not None
    assert (refused.reason, refused.message) == ("SubmissionFailed", "exceeded quota")
    api.fail_next("create", AlreadyExists("it is there"))
    assert await spark(api).submit(REQUEST, OWNER) is None


async def test_it_is_seen_with_the_pod_of_its_driver() -> None:
    api = FakeKubernetes()
    assert await spark(api).state_of("ns", "grow-1") is None
    await spark(api).submit(REQUEST, OWNER)
    state = await spark(api).state_of("ns", "grow-1")
    assert state is not None
    assert state.phase is JobPhase.PENDING
    labels = {"sparkoperator.k8s.io/app-name": "grow-1", "spark-role": "driver"}
    waiting = {"state": {"waiting": {"reason": "ErrImagePull"}}}
    for name in ("driver", "other"):
        own = labels if name == "driver" else {**labels, "spark-role": "executor"}
        api.put(
            PODS,
            {
                "metadata": {"name": name, "namespace": "ns", "labels": own},
                "status": {"containerStatuses": [waiting] if name == "driver" else []},
            },
        )
    state = await spark(api).state_of("ns", "grow-1")
    assert state is not None
    assert state.reason == "ImagePull"


async def test_it_is_taken_away() -> None:
    api = FakeKubernetes()
    await spark(api).submit(REQUEST, OWNER)
    await spark(api).remove("ns", "grow-1")
    await spark(api).remove("ns", "grow-1")
    assert api.all(SPARK_APPLICATIONS) == []
