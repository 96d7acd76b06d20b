"""The port of the plan job to Kubernetes: ConfigMaps of one namespace."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

Document = Mapping[str, Any]


class ConfigMaps(Protocol):
    """The ConfigMaps of one namespace. Every method may raise `ApiRefused`."""

    def find(self, selector: Mapping[str, str]) -> Iterator[Document]:
        """Yield the metadata of those with these labels, page by page."""

    def get(self, name: str) -> Document | None:
        """Return one; None = there is none."""

    def create(self, document: Document) -> bool:
        """Create one; False = there is one of that name already."""
