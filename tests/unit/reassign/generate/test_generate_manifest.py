"""``spec.plan.generate``: read with its defaults, refused with the path of what is wrong."""

from typing import Any

import pytest

from ballast.model.load_features import AVERAGE, LoadFeatures
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.generate.generate_manifest import (
    Engine,
    LoadSelection,
    PlanToGenerate,
    SparkJob,
)
from ballast.reassign.spec.manifest import Manifest, parse_manifest
from ballast.reassign.spec.spec import ApprovalPolicy


def parsed(generate: object, **spec: Any) -> Manifest:
    return parse_manifest(
        {
            "apiVersion": "ballast.dev/v1alpha1",
            "kind": "PartitionReassignment",
            "metadata": {"name": "grow"},
            "spec": {"plan": {"generate": generate}, **spec},
        }
    )


def test_the_planner_is_told_what_was_written_and_not_who_plans() -> None:
    options = {
        "strategy": "AddBrokers",
        "brokerIds": [7, 8],
        "topics": {"exclude": ["^__"]},
        "seed": 3,
    }
    plan = parsed({**options, "engine": "Spark", "spark": {"executors": 5}}).plan
    assert plan == PlanToGenerate(
        strategy="AddBrokers", options=options, engine=Engine.SPARK, job=SparkJob(executors=5)
    )


def test_limits_are_numbers_to_the_planner() -> None:
    limits = {"strategy": "Rebalance", "maxReplicaMoves": 5, "maxBytesToMove": "2Ki"}
    plan = parsed(limits).plan
    assert isinstance(plan, PlanToGenerate)
    assert plan.options == {**limits, "maxBytesToMove": 2048}


def test_a_plan_by_load_says_of_which_time() -> None:
    by_load = {"strategy": "Rebalance", "objective": "BytesInPerSecond"}
    plan = parsed(by_load).plan
    assert isinstance(plan, PlanToGenerate)
    assert plan.options == by_load
    assert plan.load == LoadSelection(window_seconds=3600, features=AVERAGE)
    asked = {"windowSeconds": 60, "percentile": 95, "byHourOfDay": True, "growthSeconds": 31536000}
    plan = parsed({**by_load, "load": asked}).plan
    assert isinstance(plan, PlanToGenerate)
    assert plan.load == LoadSelection(
        window_seconds=60,
        features=LoadFeatures(percentile=95, by_hour_of_day=True, growth_seconds=31_536_000),
    )
    assert plan.options == by_load
    plan = parsed({**by_load, "objective": "Bytes"}).plan
    assert isinstance(plan, PlanToGenerate)
    assert plan.load is None


def test_a_job_has_a_size() -> None:
    sizes = {
        "executors": 4,
        "driverMemory": "1Gi",
        "executorMemory": "1536Mi",
        "deadlineSeconds": 60,
        "maxAttempts": 1,
    }
    plan = parsed({"strategy": "Rebalance", "spark": sizes}).plan
    assert isinstance(plan, PlanToGenerate)
    assert plan.job == SparkJob(
        executors=4,
        driver_memory_bytes=1024**3,
        executor_memory_bytes=1536 * 1024**2,
        deadline_seconds=60,
        max_attempts=1,
    )


@pytest.mark.parametrize(
    ("generate", "path"),
    [
        (None, "spec.plan.generate"),
        ({}, "spec.plan.generate.strategy"),
        ({"strategy": 1}, "spec.plan.generate.strategy"),
        ({"strategy": "Rebalance", "engine": "Flink"}, "spec.plan.generate.engine"),
        (
            {"strategy": "Rebalance", "maxBytesToMove": "-1"},
            "spec.plan.generate.maxBytesToMove",
        ),
        (
            {"strategy": "Rebalance", "load": {"windowSeconds": 5}},
            "spec.plan.generate.load.windowSeconds",
        ),
        (
            {"strategy": "Rebalance", "load": {"percentile": 0}},
            "spec.plan.generate.load.percentile",
        ),
        (
            {"strategy": "Rebalance", "load": {"byHourOfDay": "yes"}},
            "spec.plan.generate.load.byHourOfDay",
        ),
        (
            {"strategy": "Rebalance", "load": {"growthSeconds": 59}},
            "spec.plan.generate.load.growthSeconds",
        ),
        (
            {"strategy": "Rebalance", "load": {"growthSeconds": 31536001}},
            "spec.plan.generate.load.growthSeconds",
        ),
        ({"strategy": "Rebalance", "image": "evil"}, "spec.plan.generate.image"),
        ({"strategy": "Rebalance", "spark": {"image": "x"}}, "spec.plan.generate.spark.image"),
        (
            {"strategy": "Rebalance", "spark": {"driverMemory": "1Mi"}},
            "spec.plan.generate.spark.driverMemory",
        ),
        (
            {"strategy": "Rebalance", "spark": {"maxAttempts": 11}},
            "spec.plan.generate.spark.maxAttempts",
        ),
    ],
)
def test_what_is_wrong_is_named(generate: object, path: str) -> None:
    with pytest.raises(ManifestRejected) as refused:
        parsed(generate)
    assert path in [error.path for error in refused.value.errors]


@pytest.mark.parametrize(
    ("approval", "policy"),
    [
        ({}, ApprovalPolicy.MANUAL),
        ({"planDigest": "sha256:" + "0" * 64}, ApprovalPolicy.MANUAL),
        ({"policy": "Automatic"}, ApprovalPolicy.AUTOMATIC),
    ],
)
def test_it_waits_for_approval_unless_something_else_is_said(
    approval: dict[str, Any], policy: ApprovalPolicy
) -> None:
    manifest = parsed({"strategy": "Rebalance"}, approval=approval)
    assert manifest.settings.approval.policy is policy
