"""The port to the Kubernetes API, implemented by `client` and by `tests.fakes.kubernetes`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from ballast.kube.api.resources import Document, Resource


class PatchType(StrEnum):
    """The form of a patch; the value is its content type."""

    MERGE = "application/merge-patch+json"
    JSON = "application/json-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"


class ChangeType(StrEnum):
    """The type of an event of a watch."""

    LISTED = "Listed"
    """The object existed when the watch listed the objects."""
    SYNCED = "Synced"
    """The list is complete; ``document`` is empty."""
    ADDED = "Added"
    MODIFIED = "Modified"
    DELETED = "Deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One event of a watch."""

    type: ChangeType
    document: Document


class KubernetesApi(Protocol):
    """Reads and writes objects. Every method may raise `ApiRefused` or `ApiUnavailable`.

    ``namespace`` is None for kinds without one, and for all namespaces.
    """

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Document:
        """Return one object; raises `NotFound`."""

    async def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> Sequence[Document]:
        """Return all objects that match the selectors, read page by page."""

    def watch(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        is_metadata_only: bool = False,
    ) -> AsyncIterator[Change]:
        """Yield LISTED objects, then SYNCED, then every change; never ends.

        A watch that has fallen behind lists again: an object that is then missing was deleted in
        between. With ``is_metadata_only`` the documents have nothing but their metadata.
        """

    async def create(
        self, resource: Resource, namespace: str | None, document: Mapping[str, Any]
    ) -> Document:
        """Create an object; raises `AlreadyExists`, `Invalid`."""

    async def apply(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Server-side apply as `FIELD_MANAGER`, by force; ``apiVersion`` and ``kind`` are added."""

    async def apply_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Document:
        """Server-side apply of the status subresource; raises `NotFound`."""

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Write an object if it still has its ``metadata.resourceVersion``; raises `Conflict`."""

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        patch_type: PatchType = PatchType.MERGE,
        subresource: str | None = None,
    ) -> Document:
        """Change some fields; raises `NotFound`, `Conflict`, `Invalid`."""

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> None:
        """Delete an object, with ``uid`` only the one of that uid; raises `NotFound`."""
