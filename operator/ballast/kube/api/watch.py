"""Lists in pages, and watches that never end.

The `kubernetes` package's own watches are not used: their dynamic form sends no
``allowWatchBookmarks`` and no ``Accept`` header, does not list again after 410 Gone, and reconnects
without a pause. Its clients' informers keep every object in memory.

list ──► LISTED each, SYNCED ──► stream ──► ADDED, MODIFIED, DELETED
 ▲                                 │  ▲
 │                                 ▼  └─ ended or broken off: resume at the last version
 └──────── the version has expired (410), or the stream was refused, after a delay
"""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from ballast.kube.api.errors import ApiRefused, Expired, Forbidden, KubernetesError
from ballast.kube.api.ports import Change, ChangeType
from ballast.kube.api.requests import JSON, Request, Transport, send_with_retries
from ballast.kube.api.resources import Document, Resource
from ballast.kube.api.responses import document_of, error_of
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

PAGE_SIZE: Final = 500
STREAM_S: Final = 290
"""The server ends each stream after this time."""
RETRY_DELAYS_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Between consecutive failed attempts; the last one repeats."""

_METADATA: Final = "application/json;as={};g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a list, at ``version``."""

    items: Sequence[Document]
    version: str


class StreamingTransport(Transport, Protocol):
    """Sends a request whose response arrives line by line."""

    def lines(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the lines of the response; raises `ApiRefused`, `ApiUnavailable`."""


async def pages(transport: Transport, request: Request, clock: Clock) -> AsyncIterator[Page]:
    """Yield all pages of a list; raises `Expired` if the list has to start over."""
    query = {**request.query, "limit": str(PAGE_SIZE)}
    while True:
        page_request = replace(request, query=query, is_idempotent=True)
        page = await send_with_retries(transport, page_request, clock)
        metadata = page["metadata"]
        yield Page(items=page.get("items") or (), version=metadata["resourceVersion"])
        if not metadata.get("continue"):
            return
        query = {**query, "continue": metadata["continue"]}


@dataclass(slots=True, kw_only=True)
class _Position:
    """The position of a watch, and its consecutive failures."""

    version: str | None = None
    """Every event until this version was yielded; None = list first."""
    failures: int = 0
    logged: str = ""
    """The message of the failure that was logged last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Objects of one kind, in one namespace or in all, that are watched."""

    resource: Resource
    namespace: str | None
    labels: str | None
    is_metadata_only: bool

    async def changes(self, transport: StreamingTransport, clock: Clock) -> AsyncIterator[Change]:
        """Yield LISTED objects, then SYNCED, then every change; never ends."""
        position = _Position()
        while True:
            try:
                if position.version is None:
                    async for change in self._listed(transport, clock, position):
                        yield change
                async for event in self._streamed(transport, position):
                    position.failures, position.logged = 0, ""
                    if event is not None:
                        yield event
                await clock.sleep(RETRY_DELAYS_S[0])
            except Expired:
                position.version = None
            except KubernetesError as error:
                if isinstance(error, ApiRefused):
                    position.version = None
                await clock.sleep(self._delay_s(position, error))

    def _delay_s(self, position: _Position, error: KubernetesError) -> float:
        """Count a failure, log it if it lasts, and return the delay before the next attempt."""
        delay_s = RETRY_DELAYS_S[min(position.failures, len(RETRY_DELAYS_S) - 1)]
        position.failures += 1
        # A missing right stays missing until it is granted. Others may be missing as well, so that
        # each message is logged once.
        is_lasting = isinstance(error, Forbidden) or position.failures == len(RETRY_DELAYS_S)
        if is_lasting and str(error) != position.logged:
            position.logged = str(error)
            log.warning("watching %s fails: %s", self.resource.plural, error)
        return delay_s

    async def _listed(
        self, transport: Transport, clock: Clock, position: _Position
    ) -> AsyncIterator[Change]:
        async for page in pages(transport, self._request("PartialObjectMetadataList"), clock):
            for item in page.items:
                yield Change(type=ChangeType.LISTED, document=self._typed(item))
            version = page.version
        position.version = version
        yield Change(type=ChangeType.SYNCED, document={})

    async def _streamed(
        self, transport: StreamingTransport, position: _Position
    ) -> AsyncIterator[Change | None]:
        """Yield the events of one stream, None for a bookmark."""
        request = self._request("PartialObjectMetadata")
        assert position.version is not None, "a stream resumes after a list"
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(STREAM_S),
            "resourceVersion": position.version,
        }
        request = replace(request, query={**request.query, **query})
        async for line in transport.lines(request):
            event = document_of(line)
            document: Document = event["object"]
            if event["type"] == "ERROR":
                raise error_of(int(document.get("code", 500)), document)
            position.version = document["metadata"]["resourceVersion"]
            if event["type"] == "BOOKMARK":
                yield None
            else:
                yield Change(type=_CHANGES[event["type"]], document=self._typed(document))

    def _request(self, partial_kind: str) -> Request:
        return Request(
            method="GET",
            path=self.resource.path(self.namespace),
            query={} if self.labels is None else {"labelSelector": self.labels},
            accept=_METADATA.format(partial_kind) if self.is_metadata_only else JSON,
        )

    def _typed(self, document: Mapping[str, Any]) -> Document:
        """Return a document with its kind, which lists leave out."""
        kind = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}
        return {**document, **kind}


_CHANGES: Final[Mapping[str, ChangeType]] = {
    "ADDED": ChangeType.ADDED,
    "MODIFIED": ChangeType.MODIFIED,
    "DELETED": ChangeType.DELETED,
}
