"""One watch of the Kubernetes API in memory."""

import asyncio
import copy
from collections.abc import Iterable

from ballast.kube.ports import Change, ChangeType
from ballast.kube.resources import Document, Resource
from tests.fakes.kubernetes_objects import selects


class Watcher:
    """One watch: what it has still to tell."""

    def __init__(self, resource: Resource, namespace: str | None, labels: str | None) -> None:
        self.resource = resource
        self.changes: asyncio.Queue[Change] = asyncio.Queue()
        self._namespace = namespace
        self._labels = labels

    def cares_for(self, document: Document) -> bool:
        """Whether the object is one of those watched."""
        return is_selected(document, self._namespace, self._labels)

    def begin(self, documents: Iterable[Document]) -> None:
        """Tell everything that is there."""
        for document in documents:
            if self.cares_for(document):
                listed = Change(type=ChangeType.LISTED, document=copy.deepcopy(document))
                self.changes.put_nowait(listed)
        self.changes.put_nowait(Change(type=ChangeType.SYNCED, document={}))


def is_selected(document: Document, namespace: str | None, labels: str | None) -> bool:
    """Whether an object is in the namespace (None = any) and has the labels."""
    metadata = document["metadata"]
    return namespace in (None, metadata.get("namespace")) and selects(
        labels, metadata.get("labels", {})
    )
