"""Plans that a Spark job makes, with Kubeflow's Spark operator; its failures and what follows them.

It needs that operator on the cluster, watching all namespaces: its chart's ``spark.jobNamespaces``
is ``[""]``. Without it the tests are skipped.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.clients import Clients
from tests.e2e.cluster import (
    SPARK_IMAGE,
    Document,
    Namespace,
    call,
    condition,
    eventually,
    reason,
)
from tests.e2e.installation import (
    BROKER_SET,
    OPERATOR,
    broker_set,
    helm_install,
    installed,
    start_brokers,
)
from tests.e2e.test_generated import generated, plugin, wait_for_plan
from tests.e2e.test_rbac import EVERYBODY, OPERATOR_MAY, rights

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1200)]

JOB_S = 420.0
FAILURE_S = 300.0
TOPIC = "hot"
SMALL = {"executors": 1, "driverMemory": "768Mi", "executorMemory": "768Mi"}


MANY = {"create", "patch", "delete", "deletecollection", "get", "list"}
DRIVER_MAY = {
    "configmaps": {*MANY, "watch"},
    "pods": {*MANY, "watch"},
    "services": MANY,
    "persistentvolumeclaims": {"list", "deletecollection"},
}


def spark_values(image: str = SPARK_IMAGE) -> tuple[str, ...]:
    repository, _, tag = image.rpartition(":")
    return (
        "operator.replicas=1",
        "spark.enabled=true",
        f"spark.image.repository={repository}",
        f"spark.image.tag={tag}",
    )


def watches_everywhere() -> bool:
    """Return whether Kubeflow's Spark operator is there for namespaces that are made later."""
    words = ("get", "deployment", "-A", "-l", "app.kubernetes.io/name=spark-operator", "-o", "json")
    arguments = [
        argument
        for deployment in json.loads(call("kubectl", *words))["items"]
        for container in deployment["spec"]["template"]["spec"]["containers"]
        for argument in container.get("args", ())
        if argument.startswith("--namespaces=")
    ]
    return '--namespaces=""' in arguments


@pytest.fixture(scope="module")
def spark(kubernetes: tuple[str, ...]) -> Iterator[Namespace]:
    """Install the chart with Spark, start brokers, and make a topic that is not level."""
    assert kubernetes
    if not watches_everywhere():
        pytest.skip("there is no Spark operator on the cluster that watches all namespaces")
    with installed(*spark_values()) as namespace:
        start_brokers(namespace, broker_set())
        clients = Clients(namespace, f"{BROKER_SET}-bootstrap:9092")
        clients.start()
        clients.create_topic(TOPIC, ",".join(["1:2"] * 8))
        yield namespace


@contextmanager
def planned_by_spark(namespace: Namespace, name: str, **spark: object) -> Iterator[None]:
    namespace.apply(generated(name, TOPIC, engine="Spark", spark={**SMALL, **spark}))
    try:
        yield
    finally:
        namespace.delete("preassign", name)


def wait_for_failure(namespace: Namespace, name: str, why: str) -> str:
    """Return what the condition Planned says once it has failed so."""

    def look() -> str | None:
        planned = condition(namespace.get("preassign", name), "Planned")
        failed = planned.get("status") == "False" and planned.get("reason") == why
        return str(planned["message"]) if failed else None

    return eventually(f"{why} of {name}", look, timeout_s=FAILURE_S)


def pods_of(namespace: Namespace, name: str, role: str) -> list[Document]:
    labels = f"ballast.dev/reassignment={name},spark-role={role}"
    return namespace.list("pods", labels)


def test_what_operator_and_drivers_may_do(spark: Namespace) -> None:
    jobs = {"sparkapplications.sparkoperator.k8s.io": {"get", "list", "create", "delete"}}
    assert rights(spark, OPERATOR) == {**EVERYBODY, **OPERATOR_MAY, **jobs}
    assert rights(spark, "ballast-spark") == {**EVERYBODY, **DRIVER_MAY}


def test_a_job_makes_the_plan_that_is_approved_and_carried_out(spark: Namespace) -> None:
    with planned_by_spark(spark, "by-spark"):
        executors = eventually(
            "an executor", lambda: pods_of(spark, "by-spark", "executor"), timeout_s=JOB_S
        )
        assert executors[0]["spec"]["automountServiceAccountToken"] is False
        document = wait_for_plan(spark, "by-spark", timeout_s=JOB_S)
        plan = document["status"]["plan"]
        assert plan["engine"] == "Spark"
        spark.apply(generated("beside", TOPIC, engine="InProcess"))
        other = wait_for_plan(spark, "beside")["status"]["plan"]
        spark.delete("preassign", "beside")
        if other["basedOn"]["snapshotDigest"] == plan["basedOn"]["snapshotDigest"]:
            assert other["digest"] == plan["digest"]
        assert "made by Spark" in plugin(spark, "plan", "by-spark")
        plugin(spark, "approve", "by-spark")
        spark.wait("preassign", "by-spark", "Succeeded", timeout_s=JOB_S)


def test_a_job_reads_the_history_of_load_from_the_brokers(spark: Namespace) -> None:
    by_load = {"objective": "BytesInPerSecond", "engine": "Spark", "spark": SMALL}
    spark.apply(generated("by-load", TOPIC, **by_load))
    try:
        found = wait_for_end(spark, "by-load")
        assert found["status"]["plan"]["engine"] == "Spark"
        planning = found["status"]["planning"]
        assert (planning["attempt"], planning["failures"]) == (1, 0), planning
        (driver,) = pods_of(spark, "by-load", "driver")
        assert "--load" in driver["spec"]["containers"][0]["args"]
    finally:
        spark.delete("preassign", "by-load")


def test_a_driver_that_is_killed_is_followed_by_another(spark: Namespace) -> None:
    with planned_by_spark(spark, "driver-killed", executors=1):
        (driver,) = eventually(
            "a driver", lambda: pods_of(spark, "driver-killed", "driver"), timeout_s=JOB_S
        )
        pod = driver["metadata"]["name"]
        eventually(
            "a running driver",
            lambda: spark.get("pod", pod)["status"].get("phase") == "Running",
            timeout_s=FAILURE_S,
        )
        spark.kubectl("delete", "pod", pod, "--grace-period=0", "--force")
        wait_for_failure(spark, "driver-killed", "DriverFailed")
        found = wait_for_end(spark, "driver-killed")
        assert found["status"]["planning"]["attempt"] >= 2


def test_an_image_that_is_not_there_is_told_and_mended(spark: Namespace) -> None:
    helm_install(spark, *spark_values("ballast-spark:missing"))
    try:
        with planned_by_spark(spark, "no-image", maxAttempts=1):
            message = wait_for_failure(spark, "no-image", "ImagePull")
            assert "ballast-spark:missing" in message
            helm_install(spark, *spark_values())
            wait_for_end(spark, "no-image")
    finally:
        helm_install(spark, *spark_values())


@pytest.mark.parametrize("room", [0, 1], ids=["no driver", "no executor"])
def test_a_quota_that_is_too_small_is_told_and_mended(spark: Namespace, room: int) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small"},
        "spec": {"hard": {"pods": str(pods_without_jobs(spark) + room)}},
    }
    spark.apply(quota)
    try:
        with planned_by_spark(spark, "small-quota"):
            assert "quota" in wait_for_failure(spark, "small-quota", "SubmissionFailed")
            spark.delete("resourcequota", "small")
            wait_for_end(spark, "small-quota")
    finally:
        spark.delete("resourcequota", "small")


def pods_without_jobs(namespace: Namespace) -> int:
    """Return how many pods there are once those are gone that are going, or of earlier jobs.

    With them a quota would soon have room for others.
    """

    def look() -> int | None:
        pods = namespace.list("pods")
        are_left = any(
            "spark-role" in pod["metadata"].get("labels", {})
            or "deletionTimestamp" in pod["metadata"]
            for pod in pods
        )
        return None if are_left else len(pods)

    return eventually("the end of earlier pods", look, timeout_s=FAILURE_S)


def wait_for_end(namespace: Namespace, name: str) -> Document:
    """Return the reassignment once it has a plan, be it that nothing has to be moved."""

    def look() -> Document | None:
        found = namespace.get("preassign", name)
        ends = {"AwaitingApproval", "Completed"}
        return found if reason(found, "Succeeded") in ends else None

    return eventually(f"a plan for {name}", look, timeout_s=JOB_S)
