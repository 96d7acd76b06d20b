"""Lists in pages, and watches that never end.

list ──► LISTED each, SYNCED ──► stream ──► ADDED, MODIFIED, DELETED
 ▲                                 │  ▲
 │                                 ▼  └─ ended or broken off: stream on from the last version
 └──────── the version is gone (410), or the stream was refused, after a pause
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
"""How long the server is asked to go on with one stream."""
PAUSES_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Between attempts that fail one after another; the last one for good."""

_METADATA: Final = "application/json;as={};g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some of the objects of a kind, as they were at ``version``."""

    items: Sequence[Document]
    version: str


class StreamingTransport(Transport, Protocol):
    """Sends a request whose answer comes line by line."""

    def lines(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the answer's lines; raises `ApiRefused`, `ApiUnavailable`."""


async def pages(transport: Transport, request: Request, clock: Clock) -> AsyncIterator[Page]:
    """Yield all pages of a list; raises `Expired` when it has to be begun again."""
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
    """How far a watch has got."""

    version: str | None = None
    """Everything until this version was told; None = list first."""
    failures: int = 0
    """One after another."""
    told: str = ""
    """The failure that was told last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What is watched."""

    resource: Resource
    namespace: str | None
    labels: str | None
    is_metadata_only: bool

    async def changes(self, transport: StreamingTransport, clock: Clock) -> AsyncIterator[Change]:
        """Yield what is there, then SYNCED, then what changes; for ever."""
        position = _Position()
        while True:
            try:
                if position.version is None:
                    async for change in self._listed(transport, clock, position):
                        yield change
                async for told in self._streamed(transport, position):
                    position.failures, position.told = 0, ""
                    if told is not None:
                        yield told
                await clock.sleep(PAUSES_S[0])
            except Expired:
                position.version = None
            except KubernetesError as error:
                if isinstance(error, ApiRefused):
                    position.version = None
                await clock.sleep(self._pause(position, error))

    def _pause(self, position: _Position, error: KubernetesError) -> float:
        """Return how long to wait before the next attempt."""
        pause_s = PAUSES_S[min(position.failures, len(PAUSES_S) - 1)]
        position.failures += 1
        # A right that is missing does not come by itself; others may be missing after it.
        is_lasting = isinstance(error, Forbidden) or position.failures == len(PAUSES_S)
        if is_lasting and str(error) != position.told:
            position.told = str(error)
            log.warning("watching %s fails: %s", self.resource.plural, error)
        return pause_s

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
        """Yield what one stream tells, None for a bookmark."""
        request = self._request("PartialObjectMetadata")
        assert position.version is not None, "a stream goes on from a list"
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
