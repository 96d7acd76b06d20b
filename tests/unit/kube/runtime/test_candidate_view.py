import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ballast.brokersets.observation.observation import ControllerView, ZooKeeperState
from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.candidate_view import CandidateView, no_candidate, view_of
from ballast.zk.election import ElectionLost
from ballast.znodes.controller import ControllerInfo
from tests.fakes.candidate_cluster import CandidateCluster
from tests.simulation.loop import SimulatedLoop, run


def with_cluster(scenario: Callable[[CandidateCluster], Coroutine[Any, Any, None]]) -> None:
    async def main(loop: SimulatedLoop) -> None:
        await scenario(CandidateCluster(loop))

    run(1, main)


def test_without_a_candidate_nothing_is_known() -> None:
    assert view_of(None, "pod-0") == CandidateView()
    assert no_candidate(ObjectKey("brokersets", "kafka", "prod")) == CandidateView()


def test_a_controller_knows_itself_and_the_others_know_where_it_is() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        first = cluster.start_candidate(100)
        assert view_of(first, "pod-0") == CandidateView(zookeeper=ZooKeeperState.CONNECTING)
        await cluster.until(lambda: cluster.elected() == 100)
        second = cluster.start_candidate(101)
        await asyncio.sleep(5)
        mine, other = view_of(first, "pod-0"), view_of(second, "pod-1")
        assert mine.zookeeper is other.zookeeper is ZooKeeperState.CONNECTED
        assert mine.controller is not None
        assert mine.controller.elected_ms is not None
        assert other.controller is not None
        assert (mine.controller.identity, mine.controller.epoch) == ("pod-0", 1)
        assert (other.controller.identity, other.controller.epoch) == ("c100:9093", 1)
        assert mine.controller.elected_ms - 1000 < (other.controller.elected_ms or 0)
        cluster.zookeeper.stop()
        await cluster.until(lambda: view_of(first, "pod-0").controller is None)
        assert view_of(first, "pod-0").zookeeper is not ZooKeeperState.CONNECTED

    with_cluster(scenario)


def test_a_controller_of_apache_kafka_and_an_unreadable_one() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        candidate.lost_to = ElectionLost(
            controller=ControllerInfo(controller_id=3), controller_epoch=7
        )
        controller = ControllerView(identity="broker-3", epoch=7)
        assert view_of(candidate, "pod-0").controller == controller
        candidate.lost_to = ElectionLost(controller=None, controller_epoch=7)
        controller = ControllerView(identity="unknown", epoch=7)
        assert view_of(candidate, "pod-0").controller == controller

    with_cluster(scenario)
