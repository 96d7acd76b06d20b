"""What a candidate is given: the owner of its path, and settings that change while it runs."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from ballast.controller.state.options import ControllerOptions
from ballast.model.settings.controller_config import ControllerConfig
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.zk.client import SetData
from ballast.znodes import owner
from ballast.znodes.owner import Owner
from tests.fakes.candidate_cluster import CandidateCluster
from tests.simulation.loop import SimulatedLoop, run


def with_cluster(scenario: Callable[[CandidateCluster], Coroutine[Any, Any, None]]) -> None:
    async def main(loop: SimulatedLoop) -> None:
        cluster = CandidateCluster(loop)
        for broker_id in (1, 2, 3):
            cluster.start_broker(broker_id)
        await scenario(cluster)

    _, loop = run(1, main)
    assert loop.unhandled == []


def test_a_path_of_another_set_is_left_alone_until_it_is_free() -> None:
    ours = Owner(namespace="kafka", name="prod", uid="u-1")

    async def scenario(cluster: CandidateCluster) -> None:
        cluster.zookeeper.put(owner.PARENT)
        cluster.zookeeper.put(owner.PATH, owner.encode(replace(ours, uid="u-0")))
        candidate = cluster.start_candidate(100, owner=ours)
        await asyncio.sleep(5)
        assert cluster.elected() is None
        assert candidate.failures > 0
        cluster.zookeeper.write(SetData(owner.PATH, owner.encode(ours)))
        await cluster.until(lambda: candidate.is_active)

    with_cluster(scenario)


def test_a_setting_that_is_handed_over_holds_at_once() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await asyncio.sleep(1)
        candidate.options.controller.update(
            ControllerOptions(config=ControllerConfig(num_partitions=5))
        )
        open_number = CreatableTopic(name="t", num_partitions=-1, replication_factor=1)
        request = CreateTopicsRequest(topics=(open_number,), timeout_ms=10_000)
        response = await cluster.ask(100).request(request)
        assert response.topics[0].num_partitions == 5

    with_cluster(scenario)
