"""One watch of the Kubernetes API in memory."""

import asyncio
import copy
from collections.abc import Iterable

from ballast.kube.api.ports import Change, ChangeType
from ballast.kube.api.resources import Document, Resource
from tests.fakes.kubernetes_objects import selects


class Watcher:
    """The events that one watch has not yielded yet."""

    def __init__(
        self,
        resource: Resource,
        namespace: str | None,
        labels: str | None,
        is_metadata_only: bool,
    ) -> None:
        self.resource = resource
        self.changes: asyncio.Queue[Change] = asyncio.Queue()
        self._namespace = namespace
        self._labels = labels
        self._is_metadata_only = is_metadata_only

    def begin(self, documents: Iterable[Document]) -> None:
        """Queue the existing objects."""
        for document in documents:
            self.tell(ChangeType.LISTED, document)
        self.changes.put_nowait(Change(type=ChangeType.SYNCED, document={}))

    def tell(self, kind: ChangeType, document: Document) -> None:
        """Queue the event of one object if this watch selects it."""
        if not is_selected(document, self._namespace, self._labels):
            return
        told = {"metadata": document["metadata"]} if self._is_metadata_only else document
        self.changes.put_nowait(Change(type=kind, document=copy.deepcopy(told)))


def is_selected(document: Document, namespace: str | None, labels: str | None) -> bool:
    """Whether an object is in the namespace (None = any) and has the labels."""
    metadata = document["metadata"]
    return namespace in (None, metadata.get("namespace")) and selects(
        labels, metadata.get("labels", {})
    )
