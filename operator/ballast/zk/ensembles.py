"""Whose cluster an ensemble holds: read once, before anything is made of it."""

import contextlib
from dataclasses import dataclass

from ballast.zk import lost_replies
from ballast.zk.client import ZooKeeperClient
from ballast.zk.errors import NodeExists, NoNode
from ballast.znodes import cluster_id, owner
from ballast.znodes.owner import Owner

_TOPICS = "/brokers/topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """What is under ``zookeeper.connect``, chroot included."""

    cluster_id: str | None = None
    """None: no broker has ever been registered."""
    owner: Owner | None = None
    """None: the path is not claimed."""
    has_topics: bool = False


async def look(client: ZooKeeperClient) -> Ensemble:
    """Read the ensemble. Raises `ZooKeeperError`, and `ZnodeError` when it cannot be read."""
    found = await lost_replies.repeat(
        client, lambda: client.multi_read([cluster_id.PATH, owner.PATH])
    )
    identity, claimed = found
    try:
        topics = await lost_replies.repeat(client, lambda: client.children(_TOPICS))
    except NoNode:
        topics = []
    return Ensemble(
        cluster_id=None if identity is None else cluster_id.decode(identity[0]),
        owner=None if claimed is None else owner.decode(claimed[0]),
        has_topics=bool(topics),
    )


async def claim(client: ZooKeeperClient, claimant: Owner) -> Owner:
    """Claim the path unless it is claimed; return its owner.

    Raises `ZooKeeperError`, and `ZnodeError` when the owner cannot be read.
    """
    await _ensure(client, owner.PARENT, b"")
    await _ensure(client, owner.PATH, owner.encode(claimant))
    data, _ = await lost_replies.repeat(client, lambda: client.get(owner.PATH))
    return owner.decode(data)


async def owner_of(client: ZooKeeperClient) -> Owner | None:
    """Return the owner of the path, None if it is not claimed; raises as `claim`."""
    try:
        data, _ = await lost_replies.repeat(client, lambda: client.get(owner.PATH))
    except NoNode:
        return None
    return owner.decode(data)


async def inherit(client: ZooKeeperClient, claimant: Owner) -> None:
    """Make the path the claimant's, who is of the same name as its owner and was made again."""
    await lost_replies.repeat(client, lambda: client.set(owner.PATH, owner.encode(claimant)))


async def _ensure(client: ZooKeeperClient, path: str, data: bytes) -> None:
    with contextlib.suppress(NodeExists):
        await lost_replies.repeat(client, lambda: client.create(path, data))
