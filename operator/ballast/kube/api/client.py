"""A thin client of the Kubernetes API: implements `ballast.kube.api.ports.KubernetesApi`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from ballast.kube.api.credentials import Credentials, Login
from ballast.kube.api.errors import Expired
from ballast.kube.api.paths import path_of
from ballast.kube.api.ports import Change, PatchType
from ballast.kube.api.requests import Request, carry_out
from ballast.kube.api.resources import FIELD_MANAGER, Document, Resource
from ballast.kube.api.transport import HttpTransport
from ballast.kube.api.watch import Watch, pages
from ballast.reassign.ports import Clock

APPLY: Final = "application/apply-patch+yaml"
LIST_ATTEMPTS: Final = 3
"""How often a list is begun again because its next page has expired."""

_APPLIED: Final = {"fieldManager": FIELD_MANAGER, "force": "true"}
_MANAGED: Final = {"fieldManager": FIELD_MANAGER}


class ApiClient:
    """Reads and writes objects; see the port for what each method means.

    Reads, applies, merge patches and conditional writes that failed half-way are tried again;
    creations, deletions and other patches only when the server says that they were not done.
    """

    def __init__(self, transport: HttpTransport, clock: Clock) -> None:
        self._transport = transport
        self._clock = clock

    @classmethod
    @asynccontextmanager
    async def opened(cls, login: Login, clock: Clock) -> "AsyncIterator[ApiClient]":
        """Keep a client for as long as the context lasts; raises `NoCredentials`."""
        async with HttpTransport.opened(Credentials(login, clock)) as transport:
            yield cls(transport, clock)

    @property
    def has_answered(self) -> bool:
        """Whether the API server has ever answered."""
        return self._transport.has_answered

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Document:
        """Return one object; raises `NotFound`."""
        path = path_of(resource, namespace, name)
        return await self._carry_out(Request(method="GET", path=path, is_idempotent=True))

    async def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> Sequence[Document]:
        """Return all objects that match the selectors, read page by page."""
        query = {"labelSelector": labels or "", "fieldSelector": fields or ""}
        query = {name: selector for name, selector in query.items() if selector}
        for _ in range(LIST_ATTEMPTS - 1):
            try:
                return await self._all(resource, namespace, query)
            except Expired:
                continue
        return await self._all(resource, namespace, query)

    def watch(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        is_metadata_only: bool = False,
    ) -> AsyncIterator[Change]:
        """Yield what is there, then SYNCED, then what changes; begins again by itself, for ever."""
        watch = Watch(
            resource=resource,
            namespace=namespace,
            labels=labels,
            is_metadata_only=is_metadata_only,
        )
        return watch.changes(self._transport, self._clock)

    async def create(
        self, resource: Resource, namespace: str | None, document: Mapping[str, Any]
    ) -> Document:
        """Create an object; raises `AlreadyExists`, `Invalid`."""
        return await self._carry_out(
            Request(
                method="POST",
                path=path_of(resource, namespace),
                query=_MANAGED,
                body=_typed(resource, document),
            )
        )

    async def apply(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Server-side apply as `FIELD_MANAGER`, by force; ``apiVersion`` and ``kind`` are added."""
        return await self._apply(resource, path_of(resource, namespace, name), name, document)

    async def apply_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Document:
        """Server-side apply of the status subresource; raises `NotFound`."""
        path = path_of(resource, namespace, name, "status")
        return await self._apply(resource, path, name, {"status": status})

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Put an object on condition of its ``metadata.resourceVersion``; raises `Conflict`."""
        assert document["metadata"].get("resourceVersion"), "a replacement is conditional"
        return await self._carry_out(
            Request(
                method="PUT",
                path=path_of(resource, namespace, name),
                query=_MANAGED,
                body=_typed(resource, document),
            )
        )

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
        return await self._carry_out(
            Request(
                method="PATCH",
                path=path_of(resource, namespace, name, subresource or ""),
                query=_MANAGED,
                body=patch,
                content_type=patch_type.value,
                is_idempotent=patch_type is not PatchType.JSON and not _is_conditional(patch),
            )
        )

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> None:
        """Ask for an object's deletion, only that of ``uid`` if given; raises `NotFound`."""
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
        options["propagationPolicy"] = "Background"
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        path = path_of(resource, namespace, name)
        await self._carry_out(Request(method="DELETE", path=path, body=options))

    async def _apply(
        self, resource: Resource, path: str, name: str, document: Mapping[str, Any]
    ) -> Document:
        metadata = {**document.get("metadata", {}), "name": name}
        body = _typed(resource, {**document, "metadata": metadata})
        return await self._carry_out(
            Request(
                method="PATCH",
                path=path,
                query=_APPLIED,
                body=body,
                content_type=APPLY,
                is_idempotent=True,
            )
        )

    async def _all(
        self, resource: Resource, namespace: str | None, query: Mapping[str, str]
    ) -> Sequence[Document]:
        path = path_of(resource, namespace)
        documents: list[Document] = []
        async for page in pages(
            self._transport, Request(method="GET", path=path, query=query), self._clock
        ):
            documents += (_typed(resource, item) for item in page.items)
        return documents

    async def _carry_out(self, request: Request) -> Document:
        return await carry_out(self._transport, request, self._clock)


def _typed(resource: Resource, document: Mapping[str, Any]) -> Document:
    """Return a document with its kind: lists leave it out, and callers may."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **document}


def _is_conditional(patch: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bool:
    """Whether a second patch of the same would be refused because the first was done."""
    return isinstance(patch, Mapping) and "resourceVersion" in patch.get("metadata", {})
