"""Which rack each node is in, as a label of the node says."""

from collections.abc import Mapping

from ballast.kube.errors import Forbidden
from ballast.kube.ports import KubernetesApi
from ballast.kube.resources import NODES


async def read_racks(api: KubernetesApi, topology_key: str) -> Mapping[str, str] | None:
    """Return the rack of each node, empty for a node without the label.

    None when nodes must not be read: an operator of one namespace may have no such right. Raises
    other `KubernetesError`.
    """
    try:
        nodes = await api.list(NODES, None)
    except Forbidden:
        return None
    return {
        node["metadata"]["name"]: str((node["metadata"].get("labels") or {}).get(topology_key, ""))
        for node in nodes
    }
