"""The operator's client of the Kubernetes API: implements `ports.KubernetesApi`.

Connections, credentials and TLS are those of the `kubernetes` package (see `transport`). This
module adds one method per operation, and decides which requests are idempotent.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from ballast.kube.api.credentials import Login
from ballast.kube.api.errors import Expired
from ballast.kube.api.ports import Change, PatchType
from ballast.kube.api.requests import Request, send_with_retries
from ballast.kube.api.resources import FIELD_MANAGER, Document, Resource
from ballast.kube.api.transport import HttpTransport
from ballast.kube.api.watch import Watch, pages
from ballast.reassign.ports import Clock

APPLY: Final = "application/apply-patch+yaml"
LIST_ATTEMPTS: Final = 3
"""A list starts over when its next page has expired, until this number of attempts."""

_APPLIED: Final = {"fieldManager": FIELD_MANAGER, "force": "true"}
_MANAGED: Final = {"fieldManager": FIELD_MANAGER}


class KubernetesClient:
    """Reads and writes objects; the port describes each method.

    Reads, server-side applies and unconditional merge patches are idempotent: they are sent again
    after a failure. Every other write is sent again only if the server did not execute it.
    """

    def __init__(self, transport: HttpTransport, clock: Clock) -> None:
        self._transport = transport
        self._clock = clock

    @classmethod
    @asynccontextmanager
    async def opened(cls, login: Login, clock: Clock) -> "AsyncIterator[KubernetesClient]":
        """Keep a client for as long as the context lasts; raises `NoCredentials`."""
        async with HttpTransport.opened(login) as transport:
            yield cls(transport, clock)

    @property
    def has_answered(self) -> bool:
        """Whether the API server has responded at least once."""
        return self._transport.has_answered

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Document:
        """Return one object; raises `NotFound`."""
        path = resource.path(namespace, name)
        return await self._send(Request(method="GET", path=path, is_idempotent=True))

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
        """Yield LISTED objects, then SYNCED, then every change; never ends."""
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
        return await self._send(
            Request(
                method="POST",
                path=resource.path(namespace),
                query=_MANAGED,
                body=_typed(resource, document),
            )
        )

    async def apply(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Server-side apply as `FIELD_MANAGER`, by force; ``apiVersion`` and ``kind`` are added."""
        return await self._apply(resource, resource.path(namespace, name), name, document)

    async def apply_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Document:
        """Server-side apply of the status subresource; raises `NotFound`."""
        path = resource.path(namespace, name, "status")
        return await self._apply(resource, path, name, {"status": status})

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Write an object if it still has its ``metadata.resourceVersion``; raises `Conflict`."""
        assert document["metadata"].get("resourceVersion"), "a replacement is conditional"
        return await self._send(
            Request(
                method="PUT",
                path=resource.path(namespace, name),
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
        return await self._send(
            Request(
                method="PATCH",
                path=resource.path(namespace, name, subresource or ""),
                query=_MANAGED,
                # The package recognises a JSON patch by its being a list.
                body=patch if isinstance(patch, Mapping) else list(patch),
                content_type=patch_type.value,
                is_idempotent=patch_type is not PatchType.JSON and not _is_conditional(patch),
            )
        )

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> None:
        """Delete an object, with ``uid`` only the one of that uid; raises `NotFound`."""
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1"}
        options["propagationPolicy"] = "Background"
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        path = resource.path(namespace, name)
        await self._send(Request(method="DELETE", path=path, body=options))

    async def _apply(
        self, resource: Resource, path: str, name: str, document: Mapping[str, Any]
    ) -> Document:
        metadata = {**document.get("metadata", {}), "name": name}
        body = _typed(resource, {**document, "metadata": metadata})
        return await self._send(
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
        path = resource.path(namespace)
        documents: list[Document] = []
        async for page in pages(
            self._transport, Request(method="GET", path=path, query=query), self._clock
        ):
            documents += (_typed(resource, item) for item in page.items)
        return documents

    async def _send(self, request: Request) -> Document:
        return await send_with_retries(self._transport, request, self._clock)


def _typed(resource: Resource, document: Mapping[str, Any]) -> Document:
    """Return a document with its kind, which lists and callers may leave out."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **document}


def _is_conditional(patch: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bool:
    """Whether the server would refuse the same patch a second time."""
    return isinstance(patch, Mapping) and "resourceVersion" in patch.get("metadata", {})
