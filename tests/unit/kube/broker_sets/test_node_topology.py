import pytest

from ballast.kube.api.errors import ApiUnavailable, Forbidden
from ballast.kube.api.resources import NODES
from ballast.kube.broker_sets.node_topology import PERIOD_S, NodeRacks
from tests.fakes.cluster_admin import FakeClock
from tests.fakes.kubernetes import FakeKubernetes

ZONE = "topology.kubernetes.io/zone"


def node(api: FakeKubernetes, name: str, **labels: str) -> None:
    api.put(NODES, {"metadata": {"name": name, "labels": labels}})


async def test_racks_are_read_once_in_a_while_and_when_a_node_is_new() -> None:
    api, clock = FakeKubernetes(), FakeClock()
    racks = NodeRacks(api, clock)
    node(api, "node-1", **{ZONE: "a", "row": "7"})
    node(api, "node-2")
    assert await racks.read(ZONE, ["node-1"]) == {"node-1": "a", "node-2": ""}
    node(api, "node-3", **{ZONE: "c"})
    assert await racks.read(ZONE, ["node-1"]) == {"node-1": "a", "node-2": ""}
    assert await racks.read(ZONE, ["node-3"]) == {"node-1": "a", "node-2": "", "node-3": "c"}
    assert len(api.requests) == 2
    assert await racks.read("row", []) == {"node-1": "7", "node-2": "", "node-3": ""}
    node(api, "node-1", row="8")
    await clock.sleep(PERIOD_S)
    assert (await racks.read("row", []) or {})["node-1"] == "8"


async def test_without_the_right_racks_are_not_known() -> None:
    api = FakeKubernetes()
    racks = NodeRacks(api, FakeClock())
    api.fail_next("list", Forbidden("no", status=403))
    assert await racks.read(ZONE, ["node-1"]) is None
    assert await racks.read(ZONE, ["node-1"]) is None
    assert len(api.requests) <= 1


async def test_an_api_that_does_not_answer_is_no_answer() -> None:
    api = FakeKubernetes()
    api.fail_next("list")
    with pytest.raises(ApiUnavailable):
        await NodeRacks(api, FakeClock()).read(ZONE, [])
