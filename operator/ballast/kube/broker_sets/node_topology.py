"""Which rack each node is in, as a label of the node says."""

from collections.abc import Collection, Mapping
from typing import Final

from ballast.kube.api.errors import Forbidden
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import NODES
from ballast.reassign.ports import Clock

PERIOD_S: Final = 60.0
"""Nodes are read again after so long, and at once when a pod is on one that was not known."""


class NodeRacks:
    """The racks of a cluster's nodes, as last read."""

    def __init__(self, api: KubernetesApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._racks: Mapping[str, str] | None = None
        self._of: tuple[str, float] | None = None
        """The label that was read, and when."""

    async def read(self, topology_key: str, nodes: Collection[str]) -> Mapping[str, str] | None:
        """Return the rack of each node, empty for a node without the label.

        ``nodes`` must be among them if they exist. None when nodes must not be read: an operator of
        one namespace may have no such right. Raises other `KubernetesError`.
        """
        now = self._clock.now()
        is_fresh = (
            self._of is not None
            and self._of[0] == topology_key
            and now < self._of[1] + PERIOD_S
            and (self._racks is None or self._racks.keys() >= set(nodes))
        )
        if not is_fresh:
            self._racks = await _racks(self._api, topology_key)
            self._of = (topology_key, now)
        return self._racks


async def _racks(api: KubernetesApi, topology_key: str) -> Mapping[str, str] | None:
    try:
        documents = await api.list(NODES, None)
    except Forbidden:
        return None
    return {
        node["metadata"]["name"]: str((node["metadata"].get("labels") or {}).get(topology_key, ""))
        for node in documents
    }
