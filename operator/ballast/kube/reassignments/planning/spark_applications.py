"""The Spark engine on Kubernetes: creates, observes and deletes jobs.

`SparkEngine` is the port; `KubeflowSpark` implements it with the SparkApplications of Kubeflow's
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
"""The label that Kubeflow's operator sets on a job's pods."""
DRIVER: Final = "spark-role=driver"


class SparkEngine(Protocol):
    """Runs plan jobs. Every method may raise `KubernetesError`."""

    async def is_served(self, namespace: str) -> bool:
        """Return whether jobs can be created in a namespace."""

    async def submit(self, request: JobRequest, owner: ReassignmentObject) -> JobState | None:
        """Create a job if it does not exist; return why it was refused, or None."""

    async def state_of(self, namespace: str, name: str) -> JobState | None:
        """Return the state of a job; None when there is no such job."""

    async def remove(self, namespace: str, name: str) -> None:
        """Delete a job and its pods."""


@dataclass(frozen=True, slots=True)
class KubeflowSpark:
    """Implements `SparkEngine`."""

    api: KubernetesApi
    settings: SparkSettings

    async def is_served(self, namespace: str) -> bool:
        """Return whether there is an image, the kind is served, and may be created."""
        if not self.settings.is_enabled:
            return False
        try:
            await self.api.list(SPARK_APPLICATIONS, namespace, fields="metadata.name=none")
        except ApiRefused:
            return False
        return True

    async def submit(self, request: JobRequest, owner: ReassignmentObject) -> JobState | None:
        """Create the application; a refusal by the API server is a failure of the job."""
        document = spark_application(request, self.settings, owner.owner_reference())
        try:
            await self.api.create(SPARK_APPLICATIONS, request.namespace, document)
        except AlreadyExists:
            return None
        except ApiRefused as error:
            return JobState(phase=JobPhase.FAILED, reason=SUBMISSION_FAILED, message=str(error))
        return None

    async def state_of(self, namespace: str, name: str) -> JobState | None:
        """Return the state of a job, from its application and the driver's pod."""
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
