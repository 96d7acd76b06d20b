"""What `build` connects; that a whole broker works is tested in test_broker.py."""

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

from prometheus_client import generate_latest

from ballast.broker.lifecycle.wiring import BrokerComponents, Environment, build
from tests.fakes.disk import FakeDisk
from tests.unit.broker.broker_cluster import Cluster, simulate


def built(cluster: Cluster, disk: FakeDisk, failures: list[BaseException]) -> BrokerComponents:
    def spawn(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        raise AssertionError(f"{work} was started")

    environment = Environment(
        client_factory=cluster.zookeeper.factory("broker-1"),
        files=disk,
        random=random.Random(1),
        wall_clock_ms=cluster.wall_clock_ms,
        tasks=asyncio.TaskGroup(),
        spawn=spawn,
        fail=failures.append,
        unhealthy=lambda: "broken" if failures else None,
    )
    return build(cluster.config(1), environment)


def test_nothing_runs_and_nothing_is_written_before_the_start() -> None:
    async def main(cluster: Cluster) -> None:
        disk = FakeDisk(random.Random(1))
        components = built(cluster, disk, [])
        assert not disk.exists("/logs/meta.properties")
        assert components.readiness.unready() == "not registered with ZooKeeper"
        assert len(asyncio.all_tasks()) == 1

    simulate(main)


def test_gauges_of_every_component_are_in_one_registry() -> None:
    async def main(cluster: Cluster) -> None:
        components = built(cluster, FakeDisk(random.Random(1)), [])
        text = generate_latest(components.context.metrics.registry).decode()
        for gauge in ("registration_certain 0.0", "partition_count 0.0", "connections 0.0"):
            assert f"\nballast_broker_{gauge}\n" in text

    simulate(main)


def test_handlers_and_background_work_share_the_same_replicas() -> None:
    async def main(cluster: Cluster) -> None:
        context = built(cluster, FakeDisk(random.Random(1)), []).context
        assert context.metadata is context.replicas.metadata
        assert context.configs is context.replicas.configs
        assert context.identity is context.replicas.identity

    simulate(main)
