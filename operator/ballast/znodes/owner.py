"""/ballast/owner, persistent: the BrokerSet that the cluster under this path belongs to.

``{"version":1,"namespace":"kafka","name":"prod","uid":"…"}``. Kafka has no such znode, and ignores
it. Without one, the path is not claimed.
"""

from dataclasses import dataclass
from typing import Annotated

import msgspec

from ballast.znodes import documents

PARENT = "/ballast"
PATH = "/ballast/owner"

_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A BrokerSet, as Kubernetes names it."""

    namespace: str
    name: str
    uid: str
    """Differs for a set that was deleted and made again."""

    def is_namesake(self, other: "Owner") -> bool:
        """Whether the other is of the same name, maybe made again."""
        return (self.namespace, self.name) == (other.namespace, other.name)


class _Document(msgspec.Struct):
    namespace: _Text
    name: _Text
    uid: _Text


def encode(owner: Owner) -> bytes:
    """Return the data of /ballast/owner."""
    fields = {"namespace": owner.namespace, "name": owner.name, "uid": owner.uid}
    return documents.write({"version": 1, **fields})


def decode(data: bytes) -> Owner:
    """Return the owner; raises `ZnodeError`."""
    found = documents.read(PATH, data, _Document)
    return Owner(namespace=found.namespace, name=found.name, uid=found.uid)
