"""Changes of what a BrokerSet is made of wake it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ballast.kube.api.errors import Forbidden
from ballast.kube.api.resources import (
    CONFIG_MAPS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
    ObjectKey,
)
from ballast.kube.dependent_watches import LABEL, OWNED, DependentWatches
from ballast.kube.runtime.work_queue import WorkQueue
from tests.fakes.kubernetes import FakeKubernetes

ONE = ObjectKey("brokersets", "a", "one")
MOVE = ObjectKey("partitionreassignments", "a", "move")


def part(name: str, namespace: str = "a", **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}}


def of_one(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "a", "labels": {LABEL: "one"}}}


def node(zone: str | None, **others: str) -> dict[str, Any]:
    labels = others if zone is None else {**others, "topology.kubernetes.io/zone": zone}
    return {"metadata": {"name": "n1", "labels": labels}}


class Environment:
    def __init__(self) -> None:
        self.api = FakeKubernetes()
        self.queue = WorkQueue()
        self.watches = DependentWatches(
            self.api,
            self.queue,
            ["a"],
            reassignments=self._reassignments,
            broker_sets=lambda: [ONE],
            is_watching_nodes=True,
        )

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.watches.run())
            await self.settle()
            yield
            running.cancel()

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def is_woken(self, key: ObjectKey) -> bool:
        await self.settle()
        return await self.queue.wait(key, 0.0)

    def _reassignments(self, namespace: str, config_map: str) -> Iterator[ObjectKey]:
        if (namespace, config_map) == ("a", "plan"):
            yield MOVE


async def test_parts_wake_their_broker_set() -> None:
    env = Environment()
    env.api.put(PODS, of_one("one-broker-0"))
    async with env.watching():
        assert not await env.is_woken(ONE)
        changes: list[Callable[[], Any]] = [
            lambda: env.api.put(PODS, {**of_one("one-broker-0"), "status": {"phase": "Running"}}),
            lambda: env.api.put(PODS, of_one("one-broker-1")),
            lambda: env.api.put(STATEFUL_SETS, of_one("one-broker")),
            lambda: env.api.put(PERSISTENT_VOLUME_CLAIMS, of_one("data-one-broker-0")),
            lambda: env.api.put(CONFIG_MAPS, of_one("one-config")),
        ]
        for change in changes:
            change()
            assert await env.is_woken(ONE)
        await env.api.delete(PODS, "a", "one-broker-0")
        assert await env.is_woken(ONE)


async def test_others_do_not() -> None:
    env = Environment()
    async with env.watching():
        env.api.put(PODS, part("web-0", app="web"))
        env.api.put(CONFIG_MAPS, part("kube-root-ca.crt"))
        env.api.put(PODS, part("one-broker-0", "b", **{LABEL: "one"}))
        assert not await env.is_woken(ONE)


async def test_a_plan_wakes_the_reassignments_that_name_it() -> None:
    env = Environment()
    async with env.watching():
        env.api.put(CONFIG_MAPS, part("plan"))
        assert await env.is_woken(MOVE)
        assert not await env.is_woken(ONE)


async def test_what_was_made_for_a_reassignment_wakes_it() -> None:
    env = Environment()
    async with env.watching():
        env.api.put(CONFIG_MAPS, part("p-1-plan", **{"ballast.dev/reassignment": "move"}))
        assert await env.is_woken(MOVE)


async def test_only_metadata_is_asked_for_and_labels_are_the_servers_matter() -> None:
    env = Environment()
    async with env.watching():
        asked = sorted(plural for verb, plural, _, _ in env.api.requests if verb == "watch")
    expected = sorted(resource.plural for resource in (*OWNED, CONFIG_MAPS, NODES))
    assert asked == expected


async def test_a_namespace_is_followed_once_everything_was_listed() -> None:
    env = Environment()
    assert not env.watches.is_complete("a")
    async with env.watching():
        assert env.watches.is_complete("a")
        assert not env.watches.is_complete("b")


async def test_a_kind_that_cannot_be_listed_is_not_followed() -> None:
    env = Environment()
    env.api.fail_next("watch", Forbidden("no", status=403))
    with pytest.raises(ExceptionGroup):
        async with env.watching():
            assert not env.watches.is_complete("a")


async def test_what_may_have_been_missed_wakes_all_broker_sets() -> None:
    env = Environment()
    async with env.watching():
        assert not await env.is_woken(ONE)
        env.api.relist()
        assert await env.is_woken(ONE)


async def test_labels_of_nodes_wake_all_broker_sets() -> None:
    env = Environment()
    env.api.put(NODES, node("a"))
    async with env.watching():
        assert not await env.is_woken(ONE)
        env.api.put(NODES, {**node("a"), "status": {"heartbeat": 1}})
        assert not await env.is_woken(ONE)
        env.api.put(NODES, node("b"))
        assert await env.is_woken(ONE)
        await env.api.delete(NODES, None, "n1")
        assert await env.is_woken(ONE)
        env.api.put(NODES, node(None))
        assert await env.is_woken(ONE)


async def test_nodes_are_left_alone_without_rights_on_them() -> None:
    env = Environment()
    env.watches = DependentWatches(
        env.api,
        env.queue,
        [None],
        reassignments=env._reassignments,
        broker_sets=lambda: [ONE],
        is_watching_nodes=False,
    )
    async with env.watching():
        env.api.put(NODES, node("b"))
        assert not await env.is_woken(ONE)
