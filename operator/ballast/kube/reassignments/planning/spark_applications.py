"""The Spark engine on Kubernetes: makes a job, looks how it is, takes it away.

`SparkEngine` is the port, `KubeflowSpark` the one that is here: SparkApplications of Kubeflow's
Spark operator.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from ballast.kube.api.errors import AlreadyExists, ApiRefused, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import PODS, SPARK_APPLICATIONS
from ballast.reassign.generate.spark_application import (
    SUBMISSION_FAILED,
    JobPhase,
    JobRequest,
    JobState,
    SparkSettings,
    job_state,
    spark_application,
)

APPLICATION_LABEL: Final = "sparkoperator.k8s.io/app-name"
"""On a job's pods, put there by Kubeflow's operator."""
DRIVER: Final = "spark-role=driver"


class SparkEngine(Protocol):
    """Runs plan jobs. Every method may raise `KubernetesError`."""

    async def is_served(self, namespace: str) -> bool:
        """Return whether jobs can be made in a namespace."""

    async def submit(self, request: JobRequest, owner: ReassignmentObject) -> JobState | None:
        """Make a job, unless it is there; return why it was refused, or None."""

    async def state_of(self, namespace: str, name: str) -> JobState | None:
        """Return where a job is; None when there is no such job."""

    async def remove(self, namespace: str, name: str) -> None:
        """Take a job away, its pods with it."""


@dataclass(frozen=True, slots=True)
class KubeflowSpark:
    """Implements `SparkEngine`."""

    api: KubernetesApi
    settings: SparkSettings

    async def is_served(self, namespace: str) -> bool:
        """Return whether there is an image, the kind is there, and we may make such objects."""
        if not self.settings.is_enabled:
            return False
        try:
            await self.api.list(SPARK_APPLICATIONS, namespace, fields="metadata.name=none")
        except ApiRefused:
            return False
        return True

    async def submit(self, request: JobRequest, owner: ReassignmentObject) -> JobState | None:
        """Create the application; what the API server says against it is a failure of the job."""
        document = spark_application(request, self.settings, owner.owner_reference())
        try:
            await self.api.create(SPARK_APPLICATIONS, request.namespace, document)
        except AlreadyExists:
            return None
        except ApiRefused as error:
            return JobState(phase=JobPhase.FAILED, reason=SUBMISSION_FAILED, message=str(error))
        return None

    async def state_of(self, namespace: str, name: str) -> JobState | None:
        """Return where a job is, from its application and the driver's pod."""
        try:
            application = await self.api.get(SPARK_APPLICATIONS, namespace, name)
        except NotFound:
            return None
        labels = f"{APPLICATION_LABEL}={name},{DRIVER}"
        return job_state(application, await self.api.list(PODS, namespace, labels=labels))

    async def remove(self, namespace: str, name: str) -> None:
        """Delete the application."""
        try:
            await self.api.delete(SPARK_APPLICATIONS, namespace, name)
        except NotFound:
            return
