"""The SparkApplication of a plan job: its size is the user's, all else is not; and its states."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ballast.reassign.generate.generate_manifest import SparkJob
from ballast.reassign.generate.job_load import JobLoad
from ballast.reassign.generate.spark_application import (
    SPARK_VERSION,
    JobPhase,
    JobRequest,
    SparkSettings,
    job_state,
    spark_application,
)

ROOT = Path(__file__).parents[4]
REQUEST = JobRequest(
    plan="grow-12345678-1",
    namespace="ns",
    reassignment="grow",
    uid="u",
    attempt=1,
    options={"strategy": "Rebalance", "topics": {"include": ["; rm -rf /"]}},
    job=SparkJob(executors=3, driver_memory_bytes=1024**3, executor_memory_bytes=1536 * 1024**2),
)
SETTINGS = SparkSettings(image="spark:1", image_pull_secrets=("pull",))
OWNER = {"kind": "PartitionReassignment", "name": "grow", "uid": "u"}


def made() -> dict[str, Any]:
    return spark_application(REQUEST, SETTINGS, OWNER)


def test_who_it_is() -> None:
    metadata = made()["metadata"]
    assert metadata["name"] == "grow-12345678-1"
    assert metadata["ownerReferences"] == [OWNER]
    assert metadata["labels"]["ballast.dev/reassignment"] == "grow"


def test_what_the_job_is_told() -> None:
    spec = made()["spec"]
    arguments = dict(zip(spec["arguments"][::2], spec["arguments"][1::2], strict=True))
    options = json.loads(arguments.pop("--options"))
    assert options == REQUEST.options
    assert arguments == {
        "--namespace": "ns",
        "--reassignment": "grow",
        "--uid": "u",
        "--plan-name": "grow-12345678-1",
        "--attempt": "1",
    }


def test_which_history_of_load_it_reads() -> None:
    load = JobLoad(bootstrap_servers="prod:9092", partitions=4, since_ms=1, until_ms=2)
    words = replace(REQUEST, load=load).arguments
    assert words[:-2] == REQUEST.arguments
    assert words[-2] == "--load"
    assert JobLoad.decode(words[-1]) == load


def test_how_large_it_is() -> None:
    spec = made()["spec"]
    assert spec["executor"]["instances"] == 3
    assert spec["driver"]["memory"] == "1024m"
    assert spec["executor"]["memory"] == "1536m"


def test_a_restricted_namespace_admits_its_pods() -> None:
    for part in ("driver", "executor"):
        pod = made()["spec"][part]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        (container,) = pod["containers"]
        assert container["name"] == f"spark-kubernetes-{part}"
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert pod["automountServiceAccountToken"] is (part == "driver")
        assert not any("hostPath" in volume for volume in pod["volumes"])


def test_the_spark_operator_tries_nothing_again_and_makes_no_network_policy() -> None:
    spec = made()["spec"]
    assert spec["restartPolicy"] == {"type": "Never"}
    excluded = spec["sparkConf"]["spark.kubernetes.driver.pod.excludedFeatureSteps"]
    assert excluded.endswith(".NetworkPolicyFeatureStep")


def test_the_version_is_that_of_the_image() -> None:
    lock = (ROOT / "requirements" / "spark.txt").read_text()
    assert re.findall(r"^pyspark==(\S+)", lock, re.MULTILINE) == [SPARK_VERSION]
    assert made()["spec"]["sparkVersion"] == SPARK_VERSION


def application(state: str, message: str = "", **status: Any) -> dict[str, Any]:
    found = {"state": state, "errorMessage": message}
    return {"status": {"applicationState": found, **status}}


def pod(**state: Any) -> dict[str, Any]:
    return {"status": {"containerStatuses": [{"image": "spark:1", "state": state}]}}


BACK_OFF = pod(waiting={"reason": "ImagePullBackOff", "message": "no such image"})
OOM = pod(terminated={"reason": "OOMKilled", "exitCode": 137})
KILLED = pod(terminated={"reason": "Error", "exitCode": 137})
HEAP = pod(terminated={"exitCode": 1, "message": "x\njava.lang.OutOfMemoryError: heap"})
BROKEN = pod(terminated={"exitCode": 1, "message": "Traceback\nSnapshotRejected: line 1"})
CREATING = pod(waiting={"reason": "ContainerCreating"})
GAVE_UP = pod(terminated={"reason": "Error", "exitCode": 11, "message": "stopped"})
QUOTA = "exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0"
SUBMITTING = (
    "failed to submit spark application: failed to run spark-submit: WARNING: Using incubator\n"
    + "26/11/22 WARN NativeCodeLoader: Unable to load native-hadoop library\n" * 20
    + 'Exception in thread "main" io.fabric8.kubernetes.client.KubernetesClientException: Failure '
    f'executing: POST at: https://api/pods. Message: pods "x-driver" is forbidden: {QUOTA}. '
    "Received status: Status(apiVersion=v1, code=403)\n\tat io.fabric8.kubernetes.client"
)
NO_MASTER = 'WARN x\nException in thread "main" java.net.UnknownHostException: api\n\tat a.b.C'


@pytest.mark.parametrize(
    ("found", "pods", "phase", "reason", "message"),
    [
        ({}, [], JobPhase.PENDING, "", "not yet seen"),
        (application("SUBMITTED"), [CREATING], JobPhase.PENDING, "", "SUBMITTED"),
        (application("SUBMITTED"), [BACK_OFF], JobPhase.FAILED, "ImagePull", "no such image"),
        (
            application("RUNNING", executorState={"a": "RUNNING", "b": "PENDING"}),
            [],
            JobPhase.RUNNING,
            "",
            "1 executors",
        ),
        (application("SUCCEEDING"), [], JobPhase.RUNNING, "", "0 executors"),
        (application("COMPLETED"), [BROKEN], JobPhase.SUCCEEDED, "", ""),
        (application("SUBMISSION_FAILED", QUOTA), [], JobPhase.FAILED, "SubmissionFailed", QUOTA),
        (
            application("FAILED", SUBMITTING, submissionAttempts=1),
            [],
            JobPhase.FAILED,
            "SubmissionFailed",
            f'pods "x-driver" is forbidden: {QUOTA}',
        ),
        (
            application("SUBMISSION_FAILED", NO_MASTER, submissionAttempts=1),
            [],
            JobPhase.FAILED,
            "SubmissionFailed",
            "java.net.UnknownHostException: api",
        ),
        (
            application("FAILED", "x", submissionAttempts=1, executionAttempts=1),
            [GAVE_UP],
            JobPhase.FAILED,
            "SubmissionFailed",
            "a quota",
        ),
        (
            application("FAILED", executionAttempts=1, executorState={"a": "FAILED"}),
            [GAVE_UP],
            JobPhase.FAILED,
            "DriverFailed",
            "failed repeatedly",
        ),
        (application("FAILED", "gone"), [], JobPhase.FAILED, "DriverFailed", "gone"),
        (application("FAILED"), [OOM], JobPhase.FAILED, "OutOfMemory", "driverMemory"),
        (application("FAILED"), [HEAP], JobPhase.FAILED, "OutOfMemory", "heap"),
        (application("FAILED"), [KILLED], JobPhase.FAILED, "DriverFailed", "137 (it was killed)"),
        (application("FAILED"), [BROKEN], JobPhase.FAILED, "DriverFailed", "SnapshotRejected"),
        (application("PENDING_RERUN"), [], JobPhase.FAILED, "DriverFailed", "has ended"),
        ({"status": {"applicationState": 7}}, [{"status": None}], JobPhase.PENDING, "", "not yet"),
    ],
)
def test_states(
    found: dict[str, Any], pods: list[dict[str, Any]], phase: JobPhase, reason: str, message: str
) -> None:
    state = job_state(found, pods)
    assert (state.phase, state.reason) == (phase, reason)
    assert message in state.message


def test_the_installation_says_where_the_pods_go_and_what_they_may() -> None:
    pod = {
        "nodeSelector": {"pool": "batch"},
        "tolerations": [{"key": "batch", "operator": "Exists"}],
        "securityContext": {"runAsNonRoot": True},
        "annotations": {"sidecar.istio.io/inject": "false"},
        "labels": {"team": "data", "app.kubernetes.io/managed-by": "another"},
    }
    spec = spark_application(REQUEST, replace(SETTINGS, pod=pod), OWNER)["spec"]
    for role in ("driver", "executor"):
        placed = spec[role]["template"]["spec"]
        assert placed["nodeSelector"] == {"pool": "batch"}
        assert placed["tolerations"] == pod["tolerations"]
        assert placed["securityContext"] == {"runAsNonRoot": True}
        assert spec[role]["annotations"] == pod["annotations"]
        assert spec[role]["labels"]["team"] == "data"
        assert spec[role]["labels"]["app.kubernetes.io/managed-by"] == "ballast-operator"
