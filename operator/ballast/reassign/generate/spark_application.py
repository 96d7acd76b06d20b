"""The Spark job that computes a plan: its SparkApplication, and the meaning of its status. Pure.

The object is built from a fixed template; users only set its size. It is never changed once it
exists (the Spark operator would run it again): a retry is a new object. Kubeflow's ``v1beta2``: the
pods are described in their templates, with every default written out, so that that operator's
webhook is not needed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final

from ballast.reassign.generate.generate_manifest import SparkJob
from ballast.reassign.generate.generation_names import REASSIGNMENT_LABEL
from ballast.reassign.generate.job_load import JobLoad

SPARK_VERSION: Final = "4.3.0"
"""Of the image ``ballast-spark``; a test compares it with the lock file."""
MAIN_FILE: Final = "local:///opt/ballast/plan_job.py"
ENTRYPOINT: Final = "/opt/ballast/spark-entrypoint"
NO_NETWORK_POLICY: Final = "org.apache.spark.deploy.k8s.features.NetworkPolicyFeatureStep"
"""Spark 4.2 and later would create one, but Kubeflow's operator has no permission for it."""
USER_ID: Final = 10001
TIME_TO_LIVE_S: Final = 3600
"""How long an application that has ended is kept."""
MAX_MESSAGE: Final = 600
_PLACEMENT: Final = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "priorityClassName",
    "schedulerName",
    "securityContext",
)
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSettings:
    """The installation's settings of Spark jobs."""

    image: str = ""
    """Empty = Spark is not available."""
    image_pull_policy: str = "IfNotPresent"
    image_pull_secrets: tuple[str, ...] = ()
    service_account: str = "ballast-spark"
    """Of the driver, in the namespace of the reassignment."""
    pod: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the pods: nodeSelector, tolerations, affinity, priorityClassName, labels,
    annotations, schedulerName, and a securityContext that replaces the default."""

    @property
    def is_enabled(self) -> bool:
        """Whether jobs can be created."""
        return bool(self.image)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """One attempt's job."""

    plan: str
    """The plan name; also the name of the application."""
    namespace: str
    reassignment: str
    uid: str
    attempt: int
    options: Mapping[str, Any]
    """The planner's options."""
    job: SparkJob
    load: JobLoad | None = None
    """None = the job only reads the snapshot."""

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of the job's main file."""
        load = () if self.load is None else ("--load", self.load.encode())
        return [
            *("--namespace", self.namespace),
            *("--reassignment", self.reassignment),
            *("--uid", self.uid),
            *("--plan-name", self.plan),
            *("--attempt", str(self.attempt)),
            *("--options", json.dumps(self.options, sort_keys=True, separators=(",", ":"))),
            *load,
        ]


def spark_application(
    request: JobRequest, settings: SparkSettings, owner: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the SparkApplication of a job; ``owner`` is the reassignment's owner reference."""
    job, secrets = request.job, list(settings.image_pull_secrets)
    labels = {
        **settings.pod.get("labels", {}),
        "app.kubernetes.io/managed-by": "ballast-operator",
        REASSIGNMENT_LABEL: request.reassignment,
    }
    return {
        "metadata": {
            "name": request.plan,
            "namespace": request.namespace,
            "labels": labels,
            "ownerReferences": [dict(owner)],
        },
        "spec": {
            "type": "Python",
            "mode": "cluster",
            "pythonVersion": "3",
            "sparkVersion": SPARK_VERSION,
            "image": settings.image,
            "imagePullPolicy": settings.image_pull_policy,
            **({"imagePullSecrets": secrets} if secrets else {}),
            "mainApplicationFile": MAIN_FILE,
            "arguments": request.arguments,
            "restartPolicy": {"type": "Never"},
            "timeToLiveSeconds": TIME_TO_LIVE_S,
            "sparkConf": {
                "spark.kubernetes.driver.pod.excludedFeatureSteps": NO_NETWORK_POLICY,
                "spark.kubernetes.executor.deleteOnTermination": "true",
                "spark.ui.enabled": "false",
                "spark.eventLog.enabled": "false",
            },
            "driver": {
                "cores": 1,
                "coreRequest": "200m",
                "memory": _state(job.driver_memory_bytes),
                "serviceAccount": settings.service_account,
                "labels": labels,
                "annotations": dict(settings.pod.get("annotations", {})),
                "template": _template("spark-kubernetes-driver", settings, mounts_token=True),
            },
            "executor": {
                "instances": job.executors,
                "cores": 1,
                "coreRequest": "200m",
                "memory": _state(job.executor_memory_bytes),
                "labels": labels,
                "annotations": dict(settings.pod.get("annotations", {})),
                "template": _template("spark-kubernetes-executor", settings, mounts_token=False),
            },
        },
    }


def _template(container: str, settings: SparkSettings, *, mounts_token: bool) -> dict[str, Any]:
    """Return a pod template that restricted Pod Security admits."""
    return {
        "spec": {
            "automountServiceAccountToken": mounts_token,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": USER_ID,
                "runAsGroup": USER_ID,
                "fsGroup": USER_ID,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            **{name: settings.pod[name] for name in _PLACEMENT if name in settings.pod},
            "containers": [
                {
                    "name": container,
                    "command": [ENTRYPOINT],
                    "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108  (a volume)
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "readOnlyRootFilesystem": True,
                        "runAsNonRoot": True,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108
                }
            ],
            "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "4Gi"}}],
        }
    }


def _state(size_bytes: int) -> str:
    return f"{max(1, size_bytes // _MIB)}m"


class JobPhase(Enum):
    """The phase of a job."""

    PENDING = auto()
    RUNNING = auto()
    SUCCEEDED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """The observed state of a job."""

    phase: JobPhase
    reason: str = ""
    """Of a failed job: reason of the condition Planned."""
    message: str = ""


DRIVER_FAILED: Final = "DriverFailed"
IMAGE_PULL: Final = "ImagePull"
OUT_OF_MEMORY: Final = "OutOfMemory"
SUBMISSION_FAILED: Final = "SubmissionFailed"

_RUNNING: Final = frozenset({"RUNNING", "SUCCEEDING", "FAILING"})
_OVER: Final = frozenset({"FAILED", "INVALIDATING", "PENDING_RERUN", "SUSPENDED", "SUSPENDING"})
_NO_IMAGE: Final = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"}
)
_NO_CONTAINER: Final = frozenset({"CreateContainerConfigError", "CreateContainerError"})
_KILLED_EXIT_CODE: Final = 137
_NO_EXECUTORS_EXIT_CODE: Final = 11
"""Spark's exit code after too many executors could not be started, or failed."""
_SUBMISSION_ERRORS: Final = (
    re.compile(r"Message: (.+?)\. Received status", re.DOTALL),
    re.compile(r"Exception in thread \"main\" (.+)"),
)
"""The API server's message, else Java's exception."""


def job_state(application: Mapping[str, Any], driver_pods: Sequence[Mapping[str, Any]]) -> JobState:
    """Return the state of a job from its application and the driver's pods."""
    application_state = _at(application, "status", "applicationState")
    state = str(_at(application_state, "state") or "")
    error = str(_at(application_state, "errorMessage") or "").strip()
    if state == "COMPLETED":
        return JobState(phase=JobPhase.SUCCEEDED)
    # An application that may not be submitted again is FAILED a moment after SUBMISSION_FAILED.
    was_submitted = bool(_at(application, "status", "executionAttempts"))
    was_tried = bool(_at(application, "status", "submissionAttempts"))
    if state == "SUBMISSION_FAILED" or (state == "FAILED" and was_tried and not was_submitted):
        return _failed(SUBMISSION_FAILED, _submission_error(error))
    has_executors = bool(_executors(application))
    from_pod = next(
        (seen for pod in driver_pods if (seen := _pod_failure(pod, has_executors=has_executors))),
        None,
    )
    if state in _OVER or (from_pod is not None and from_pod.reason == IMAGE_PULL):
        return from_pod or _failed(DRIVER_FAILED, error or "the driver has ended")
    if state in _RUNNING:
        running = _executors(application).count("RUNNING")
        return JobState(phase=JobPhase.RUNNING, message=f"{running} executors are running")
    return JobState(phase=JobPhase.PENDING, message=state or "not yet seen by the Spark operator")


def _executors(application: Mapping[str, Any]) -> list[str]:
    states = _at(application, "status", "executorState")
    return [str(state) for state in states.values()] if isinstance(states, Mapping) else []


def _submission_error(error: str) -> str:
    """Return the error in the output of spark-submit, without the warnings before it."""
    for form in _SUBMISSION_ERRORS:
        if match := form.search(error):
            return match[1]
    return error or "spark-submit was refused"


def _pod_failure(pod: Mapping[str, Any], *, has_executors: bool) -> JobState | None:
    """Return why a driver's pod has failed or cannot start, or None."""
    for status in _at(pod, "status", "containerStatuses") or ():
        waiting = _at(status, "state", "waiting")
        why = str(_at(waiting, "reason") or "")
        if why in _NO_IMAGE | _NO_CONTAINER:
            message = f"{why}: {_at(waiting, 'message') or status.get('image', '')}"
            return _failed(IMAGE_PULL, message)
        ended = _at(status, "state", "terminated")
        code = _at(ended, "exitCode")
        if _at(ended, "reason") == "OOMKilled":
            return _failed(OUT_OF_MEMORY, "the driver ran out of memory: raise driverMemory")
        if code == _NO_EXECUTORS_EXIT_CODE:
            return _no_executors(has_executors=has_executors)
        if isinstance(code, int) and code:
            return _exit_failure(code, str(_at(ended, "message") or ""))
    return None


def _no_executors(*, has_executors: bool) -> JobState:
    """Return why Spark gave up: pods that cannot be created, or that fail repeatedly."""
    if has_executors:
        return _failed(DRIVER_FAILED, "the executors failed repeatedly: see their logs")
    message = "no executor pod could be created: a quota or an admission rule forbids it"
    return _failed(SUBMISSION_FAILED, message)


def _exit_failure(code: int, log: str) -> JobState:
    """Return the failure by a driver's exit code and the end of its log."""
    reason = OUT_OF_MEMORY if "OutOfMemoryError" in log else DRIVER_FAILED
    killed = " (it was killed)" if code == _KILLED_EXIT_CODE else ""
    last = (log.strip().splitlines() or [""])[-1]
    return _failed(reason, f"the driver ended with {code}{killed} {last}".strip())


def _failed(reason: str, message: str) -> JobState:
    return JobState(phase=JobPhase.FAILED, reason=reason, message=message[:MAX_MESSAGE])


def _at(document: object, *path: str) -> Any:
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)
    return document
