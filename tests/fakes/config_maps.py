"""The ConfigMaps of one namespace, in memory."""

from collections.abc import Iterator, Mapping
from typing import Any


class FakeConfigMaps:
    """Like the API server's: created once, never changed, found by label."""

    def __init__(self) -> None:
        self.documents: dict[str, Mapping[str, Any]] = {}
        """By name, in the order in which they were created."""

    def find(self, selector: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        for document in list(self.documents.values()):
            if selector.items() <= document["metadata"].get("labels", {}).items():
                yield {"metadata": document["metadata"]}

    def get(self, name: str) -> Mapping[str, Any] | None:
        return self.documents.get(name)

    def create(self, document: Mapping[str, Any]) -> bool:
        name = document["metadata"]["name"]
        if name in self.documents:
            return False
        self.documents[name] = document
        return True
