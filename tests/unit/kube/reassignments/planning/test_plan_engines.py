"""Plans by Spark: the job's life, its failures, and what is done about them."""

import base64
from typing import Any

import msgspec
import pytest

from ballast.kube.api.reassignment_object import milliseconds
from ballast.kube.api.resources import CONFIG_MAPS, PODS, SPARK_APPLICATIONS, Document
from ballast.kube.reassignments.planning.generated_plans import write_plan_chunks
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.kube.runtime.planner_process import Request, make_plan
from ballast.model.load_features import LoadFeatures
from ballast.model.topics import LOAD_TOPIC
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.generate.job_load import JobLoad
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.load_samples import made_sample
from tests.unit.kube.reassignment_house import NAMESPACE, House
from tests.unit.kube.reassignments.planning.test_plan_generator import (
    ADD,
    awaits,
    house_of_four,
    stored,
)

SPARK: dict[str, Any] = {"plan": {"generate": {**ADD["plan"]["generate"], "engine": "Spark"}}}

BOOTSTRAP = "prod-brokers.ns.svc.cluster.local:9092,prod-bootstrap.ns.svc.cluster.local:9092"


def house_with_spark(**job: Any) -> House:
    house = house_of_four()
    house.spark = SparkSettings(image="spark:1")
    generate = {**SPARK["plan"]["generate"], "spark": job} if job else SPARK["plan"]["generate"]
    house.put("grow", plan={"generate": generate})
    return house


def jobs(house: House) -> list[Document]:
    return house.api.all(SPARK_APPLICATIONS)


def set_state(house: House, state: str, message: str = "") -> None:
    """Let the last job be in a state, as the Spark operator would say it."""
    status = {"applicationState": {"state": state, "errorMessage": message}}
    house.api.put(SPARK_APPLICATIONS, {**jobs(house)[-1], "status": status})


def put_driver(house: House, **state: Any) -> None:
    """Let the driver's pod of the last job be there, its container in a state."""
    name = jobs(house)[-1]["metadata"]["name"]
    labels = {"sparkoperator.k8s.io/app-name": name, "spark-role": "driver"}
    house.api.put(
        PODS,
        {
            "metadata": {"name": "driver", "namespace": NAMESPACE, "labels": labels},
            "status": {"containerStatuses": [{"state": state}]},
        },
    )


async def run_job(house: House) -> None:
    """Do what the last job would do: read the snapshot, write the plan."""
    job = jobs(house)[-1]
    words = job["spec"]["arguments"]
    told = dict(zip(words[::2], words[1::2], strict=True))
    labels = f"ballast.dev/reassignment=grow,ballast.dev/snapshot={told['--attempt']}"
    chunks = await house.api.list(CONFIG_MAPS, NAMESPACE, labels=labels)
    texts = [base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"]) for chunk in chunks]
    made = make_plan(Request(options=msgspec.json.decode(told["--options"]), chunks=tuple(texts)))
    owner = house.seen("grow")
    attempt = Attempt(owner=owner, plan=told["--plan-name"], number=int(told["--attempt"]))
    digest = chunks[0]["metadata"]["annotations"]["ballast.dev/snapshot-digest"]
    await write_plan_chunks(house.api, attempt, made, digest)
    set_state(house, "COMPLETED")


async def until_job(house: House, tender: Any, count: int = 1) -> None:
    await house.until(
        lambda house: (
            house.seen("grow").status.get("planning", {}).get("sparkApplicationName")
            == (jobs(house)[-1]["metadata"]["name"] if len(jobs(house)) >= count else "none yet")
        ),
        tender,
    )


async def test_a_job_makes_the_plan_and_it_is_the_same_as_in_process() -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    assert house.reason("Planned", "grow") == "Unknown Generating"
    set_state(house, "RUNNING")
    await house.looks(tender, 2)
    assert "is running" in house.message("Planned", "grow")
    await run_job(house)
    await house.until(awaits, tender)
    plan = house.seen("grow").status["plan"]
    assert plan["engine"] == "Spark"
    assert plan["sparkApplicationName"] == jobs(house)[0]["metadata"]["name"]
    other = house_of_four()
    other.put("grow", **ADD)
    await other.until(awaits, other.tender("grow"))
    assert plan["digest"] == other.seen("grow").status["plan"]["digest"]
    house.put("grow", approval={"planDigest": plan["digest"]})
    await house.until(lambda house: house.state("grow") is LifecycleState.COMPLETED, tender)
    assert house.planned == 0


async def test_a_job_reads_the_history_of_load_by_itself() -> None:
    """The operator only sees whether there is any; it says where, and until when."""
    house = house_with_spark()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond", "engine": "Spark"}
    load = {"windowSeconds": 600, "percentile": 95, "byHourOfDay": True, "growthSeconds": 60}
    house.put("grow", plan={"generate": {**by_load, "load": load}})
    tender = house.tender("grow")
    await house.looks(tender, 3)
    assert house.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    house.cluster.add(LOAD_TOPIC, 0, 1, 2)
    house.admin.samples = [made_sample("orders", [600] * 8, end_ms=house.clock.wall_ms())]
    await until_job(house, tender)
    (chunk,) = stored(house, "snapshot")
    snapshot = read_snapshot([base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"])])
    assert snapshot.rates is None
    words = jobs(house)[0]["spec"]["arguments"]
    told = JobLoad.decode(words[words.index("--load") + 1])
    assert told.bootstrap_servers == BOOTSTRAP
    assert told.partitions == 1
    assert told.features == LoadFeatures(percentile=95, by_hour_of_day=True, growth_seconds=60)
    assert told.until_ms - told.since_ms == 600_000
    based_on = house.seen("grow").status["planning"]["basedOn"]["time"]
    assert milliseconds(based_on) == told.until_ms


@pytest.mark.parametrize(
    ("state", "message", "reason"),
    [
        ("SUBMISSION_FAILED", "exceeded quota: small", "SubmissionFailed"),
        ("FAILED", "driver pod not found", "DriverFailed"),
        ("COMPLETED", "", "PlanMissing"),
    ],
)
async def test_a_job_that_fails_is_told_of_and_followed_by_a_new_one(
    state: str, message: str, reason: str
) -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    set_state(house, state, message)
    await house.until(lambda house: house.reason("Planned", "grow").startswith("False"), tender)
    assert house.reason("Planned", "grow") == f"False {reason}"
    assert message in house.message("Planned", "grow")
    assert house.notes().count(reason) == 1
    await until_job(house, tender, 2)
    first, second = jobs(house)
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert len(stored(house, "snapshot")) == 1
    await run_job(house)
    await house.until(awaits, tender)
    assert house.reason("Stalled", "grow") == "False Progressing"


async def test_a_wrong_image_is_seen_long_before_the_deadline() -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    began = house.clock.seconds
    put_driver(house, waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    set_state(house, "SUBMITTED")
    await house.until(lambda house: house.reason("Planned", "grow") == "False ImagePull", tender)
    assert house.clock.seconds - began < 30
    assert jobs(house) == []
    # Whoever installs the right image starts the operator anew.
    house.spark = SparkSettings(image="spark:2")
    tender = house.tender("grow")
    await until_job(house, tender)
    assert jobs(house)[0]["spec"]["image"] == "spark:2"
    await run_job(house)
    await house.until(awaits, tender)


async def test_so_many_jobs_and_no_more() -> None:
    house = house_with_spark(maxAttempts=2)
    tender = house.tender("grow")
    for count in (1, 2):
        await until_job(house, tender, count)
        set_state(house, "FAILED", "no luck")
    await house.until(lambda house: house.reason("Stalled", "grow").startswith("True"), tender)
    await house.looks(tender, 10)
    assert len(jobs(house)) == 2
    assert "2 attempts have failed" in house.message("Stalled", "grow")
    assert "Stalled" in house.notes()
    house.put("grow", desiredState="Paused")
    await until_job(house, tender, 3)


async def test_a_job_has_a_deadline() -> None:
    house = house_with_spark(deadlineSeconds=60)
    tender = house.tender("grow")
    await until_job(house, tender)
    set_state(house, "SUBMITTED")
    began = house.clock.seconds
    await house.until(
        lambda house: house.reason("Planned", "grow") == "False DeadlineExceeded", tender
    )
    assert 57 <= house.clock.seconds - began < 80
    assert jobs(house) == []


async def test_a_job_that_somebody_deletes_is_followed() -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    await house.api.delete(SPARK_APPLICATIONS, NAMESPACE, jobs(house)[0]["metadata"]["name"])
    await house.until(lambda house: house.reason("Planned", "grow") == "False DriverFailed", tender)
    await until_job(house, tender)


async def test_without_spark_it_is_said_so() -> None:
    house = house_of_four()
    house.put("grow", **SPARK)
    tender = house.tender("grow")
    await house.until(lambda house: house.reason("Stalled", "grow").startswith("True"), tender)
    assert house.reason("Planned", "grow") == "False SparkUnavailable"
    assert "spark.enabled" in house.message("Planned", "grow")


async def test_a_job_goes_when_its_reassignment_is_cancelled() -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    house.put("grow", desiredState="Cancelled")
    await house.until(lambda house: house.state("grow") is LifecycleState.CANCELLED, tender)
    assert jobs(house) == []


async def test_a_plan_from_another_snapshot_is_not_taken() -> None:
    house = house_with_spark()
    tender = house.tender("grow")
    await until_job(house, tender)
    await run_job(house)
    (index,) = [d for d in stored(house, "plan") if "data" in d]
    index["metadata"]["annotations"]["ballast.dev/snapshot-digest"] = "sha256:other"
    house.api.put(CONFIG_MAPS, index)
    await house.until(lambda house: house.reason("Planned", "grow") == "False PlanMissing", tender)
    assert "another snapshot" in house.message("Planned", "grow")


async def test_a_snapshot_that_is_gone_is_taken_again() -> None:
    house = house_of_four()
    house.put("grow", **ADD)
    tender = house.tender("grow")
    await house.until(
        lambda house: "basedOn" in house.seen("grow").status.get("planning", {}), tender
    )
    for document in stored(house, "snapshot"):
        await house.api.delete(CONFIG_MAPS, NAMESPACE, document["metadata"]["name"])
    await house.until(
        lambda house: house.reason("Planned", "grow") == "False SnapshotMissing", tender
    )
    await house.until(awaits, tender)
