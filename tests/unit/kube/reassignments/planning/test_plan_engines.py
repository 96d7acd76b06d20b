"""Plans by Spark: the job's life, its failures, and what is done about them."""

import base64
from typing import Any

import msgspec
import pytest

from ballast.kube.api.reassignment_object import milliseconds
from ballast.kube.api.resources import CONFIG_MAPS, PODS, SPARK_APPLICATIONS, Document
from ballast.kube.reassignments.planning.generated_plans import write_plan_chunks
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.kube.runtime.planner_process import PlannerRequest, make_plan
from ballast.model.load_features import LoadFeatures
from ballast.model.topics import LOAD_TOPIC
from ballast.planner.snapshot.lines import read_snapshot
from ballast.reassign.generate.job_load import JobLoad
from ballast.reassign.generate.spark_application import SparkSettings
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.load_samples import made_sample
from tests.unit.kube.reassignment_cluster import NAMESPACE, Environment
from tests.unit.kube.reassignments.planning.test_plan_generator import (
    ADD,
    awaits,
    house_of_four,
    stored,
)

SPARK: dict[str, Any] = {"plan": {"generate": {**ADD["plan"]["generate"], "engine": "Spark"}}}

BOOTSTRAP = "prod-brokers.ns.svc.cluster.local:9092,prod-bootstrap.ns.svc.cluster.local:9092"


def house_with_spark(**job: Any) -> Environment:
    env = house_of_four()
    env.spark = SparkSettings(image="spark:1")
    generate = {**SPARK["plan"]["generate"], "spark": job} if job else SPARK["plan"]["generate"]
    env.put("grow", plan={"generate": generate})
    return env


def jobs(env: Environment) -> list[Document]:
    return env.api.all(SPARK_APPLICATIONS)


def set_state(env: Environment, state: str, message: str = "") -> None:
    """Let the last job be in a state, as the Spark operator would say it."""
    status = {"applicationState": {"state": state, "errorMessage": message}}
    env.api.put(SPARK_APPLICATIONS, {**jobs(env)[-1], "status": status})


def put_driver(env: Environment, **state: Any) -> None:
    """Let the driver's pod of the last job be there, its container in a state."""
    name = jobs(env)[-1]["metadata"]["name"]
    labels = {"sparkoperator.k8s.io/app-name": name, "spark-role": "driver"}
    env.api.put(
        PODS,
        {
            "metadata": {"name": "driver", "namespace": NAMESPACE, "labels": labels},
            "status": {"containerStatuses": [{"state": state}]},
        },
    )


async def run_job(env: Environment) -> None:
    """Do what the last job would do: read the snapshot, write the plan."""
    job = jobs(env)[-1]
    words = job["spec"]["arguments"]
    arguments = dict(zip(words[::2], words[1::2], strict=True))
    labels = f"ballast.dev/reassignment=grow,ballast.dev/snapshot={arguments['--attempt']}"
    chunks = await env.api.list(CONFIG_MAPS, NAMESPACE, labels=labels)
    texts = [base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"]) for chunk in chunks]
    made = make_plan(
        PlannerRequest(options=msgspec.json.decode(arguments["--options"]), chunks=tuple(texts))
    )
    owner = env.reassignment("grow")
    attempt = Attempt(
        owner=owner, plan=arguments["--plan-name"], number=int(arguments["--attempt"])
    )
    digest = chunks[0]["metadata"]["annotations"]["ballast.dev/snapshot-digest"]
    await write_plan_chunks(env.api, attempt, made, digest)
    set_state(env, "COMPLETED")


async def until_job(env: Environment, loop: Any, count: int = 1) -> None:
    await env.until(
        lambda env: (
            env.reassignment("grow").status.get("planning", {}).get("sparkApplicationName")
            == (jobs(env)[-1]["metadata"]["name"] if len(jobs(env)) >= count else "none yet")
        ),
        loop,
    )


async def test_a_job_makes_the_plan_and_it_is_the_same_as_in_process() -> None:
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    assert env.reason("Planned", "grow") == "Unknown Generating"
    set_state(env, "RUNNING")
    await env.reconcile(loop, 2)
    assert "is running" in env.message("Planned", "grow")
    await run_job(env)
    await env.until(awaits, loop)
    plan = env.reassignment("grow").status["plan"]
    assert plan["engine"] == "Spark"
    assert plan["sparkApplicationName"] == jobs(env)[0]["metadata"]["name"]
    other = house_of_four()
    other.put("grow", **ADD)
    await other.until(awaits, other.loop("grow"))
    assert plan["digest"] == other.reassignment("grow").status["plan"]["digest"]
    env.put("grow", approval={"planDigest": plan["digest"]})
    await env.until(lambda env: env.state("grow") is LifecycleState.COMPLETED, loop)
    assert env.planned == 0


async def test_a_job_reads_the_history_of_load_by_itself() -> None:
    """The operator only sees whether there is any; it says where, and until when."""
    env = house_with_spark()
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond", "engine": "Spark"}
    load = {"windowSeconds": 600, "percentile": 95, "byHourOfDay": True, "growthSeconds": 60}
    env.put("grow", plan={"generate": {**by_load, "load": load}})
    loop = env.loop("grow")
    await env.reconcile(loop, 3)
    assert env.reason("Planned", "grow") == "Unknown LoadHistoryMissing"
    env.cluster.add(LOAD_TOPIC, 0, 1, 2)
    env.admin.samples = [made_sample("orders", [600] * 8, end_ms=env.clock.wall_ms())]
    await until_job(env, loop)
    (chunk,) = stored(env, "snapshot")
    snapshot = read_snapshot([base64.b64decode(chunk["binaryData"]["snapshot.jsonl.gz"])])
    assert snapshot.rates is None
    words = jobs(env)[0]["spec"]["arguments"]
    arguments = JobLoad.decode(words[words.index("--load") + 1])
    assert arguments.bootstrap_servers == BOOTSTRAP
    assert arguments.partitions == 1
    assert arguments.features == LoadFeatures(percentile=95, by_hour_of_day=True, growth_seconds=60)
    assert arguments.until_ms - arguments.since_ms == 600_000
    based_on = env.reassignment("grow").status["planning"]["basedOn"]["time"]
    assert milliseconds(based_on) == arguments.until_ms


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
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    set_state(env, state, message)
    await env.until(lambda env: env.reason("Planned", "grow").startswith("False"), loop)
    assert env.reason("Planned", "grow") == f"False {reason}"
    assert message in env.message("Planned", "grow")
    assert env.notes().count(reason) == 1
    await until_job(env, loop, 2)
    first, second = jobs(env)
    assert first["metadata"]["name"] != second["metadata"]["name"]
    assert len(stored(env, "snapshot")) == 1
    await run_job(env)
    await env.until(awaits, loop)
    assert env.reason("Stalled", "grow") == "False Progressing"


async def test_a_wrong_image_is_seen_long_before_the_deadline() -> None:
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    began = env.clock.seconds
    put_driver(env, waiting={"reason": "ImagePullBackOff", "message": "no such image"})
    set_state(env, "SUBMITTED")
    await env.until(lambda env: env.reason("Planned", "grow") == "False ImagePull", loop)
    assert env.clock.seconds - began < 30
    assert jobs(env) == []
    # A user who installs the right image restarts the operator.
    env.spark = SparkSettings(image="spark:2")
    loop = env.loop("grow")
    await until_job(env, loop)
    assert jobs(env)[0]["spec"]["image"] == "spark:2"
    await run_job(env)
    await env.until(awaits, loop)


async def test_so_many_jobs_and_no_more() -> None:
    env = house_with_spark(maxAttempts=2)
    loop = env.loop("grow")
    for count in (1, 2):
        await until_job(env, loop, count)
        set_state(env, "FAILED", "no luck")
    await env.until(lambda env: env.reason("Stalled", "grow").startswith("True"), loop)
    await env.reconcile(loop, 10)
    assert len(jobs(env)) == 2
    assert "2 attempts have failed" in env.message("Stalled", "grow")
    assert "Stalled" in env.notes()
    env.put("grow", desiredState="Paused")
    await until_job(env, loop, 3)


async def test_a_job_has_a_deadline() -> None:
    env = house_with_spark(deadlineSeconds=60)
    loop = env.loop("grow")
    await until_job(env, loop)
    set_state(env, "SUBMITTED")
    began = env.clock.seconds
    await env.until(lambda env: env.reason("Planned", "grow") == "False DeadlineExceeded", loop)
    assert 57 <= env.clock.seconds - began < 80
    assert jobs(env) == []


async def test_a_job_that_somebody_deletes_is_followed() -> None:
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    await env.api.delete(SPARK_APPLICATIONS, NAMESPACE, jobs(env)[0]["metadata"]["name"])
    await env.until(lambda env: env.reason("Planned", "grow") == "False DriverFailed", loop)
    await until_job(env, loop)


async def test_without_spark_it_is_said_so() -> None:
    env = house_of_four()
    env.put("grow", **SPARK)
    loop = env.loop("grow")
    await env.until(lambda env: env.reason("Stalled", "grow").startswith("True"), loop)
    assert env.reason("Planned", "grow") == "False SparkUnavailable"
    assert "spark.enabled" in env.message("Planned", "grow")


async def test_a_job_goes_when_its_reassignment_is_cancelled() -> None:
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    env.put("grow", desiredState="Cancelled")
    await env.until(lambda env: env.state("grow") is LifecycleState.CANCELLED, loop)
    assert jobs(env) == []


async def test_a_plan_from_another_snapshot_is_not_taken() -> None:
    env = house_with_spark()
    loop = env.loop("grow")
    await until_job(env, loop)
    await run_job(env)
    (index,) = [d for d in stored(env, "plan") if "data" in d]
    index["metadata"]["annotations"]["ballast.dev/snapshot-digest"] = "sha256:other"
    env.api.put(CONFIG_MAPS, index)
    await env.until(lambda env: env.reason("Planned", "grow") == "False PlanMissing", loop)
    assert "another snapshot" in env.message("Planned", "grow")


async def test_a_snapshot_that_is_gone_is_taken_again() -> None:
    env = house_of_four()
    env.put("grow", **ADD)
    loop = env.loop("grow")
    await env.until(
        lambda env: "basedOn" in env.reassignment("grow").status.get("planning", {}), loop
    )
    for document in stored(env, "snapshot"):
        await env.api.delete(CONFIG_MAPS, NAMESPACE, document["metadata"]["name"])
    await env.until(lambda env: env.reason("Planned", "grow") == "False SnapshotMissing", loop)
    await env.until(awaits, loop)
