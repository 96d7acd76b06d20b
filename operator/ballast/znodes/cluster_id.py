"""/cluster/id, persistent: ``{"version":"1","id":"<22 characters>"}`` (the version is a string)."""

from typing import Annotated

import msgspec

from ballast.znodes import documents

PARENT = "/cluster"
PATH = "/cluster/id"

_Id = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_.\-]{1,64}\Z")]


class _Document(msgspec.Struct):
    id: _Id


def encode(cluster_id: str) -> bytes:
    """Return the data of /cluster/id."""
    return documents.write({"version": "1", "id": cluster_id})


def decode(data: bytes) -> str:
    """Return the cluster id; raises `ZnodeError`."""
    return documents.read(PATH, data, _Document).id
