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
from ballast.kube.dependent_watches import LABEL, OWNED, OwnedWatches
from ballast.kube.runtime.work_queue import Wakes
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


class House:
    def __init__(self) -> None:
        self.api = FakeKubernetes()
        self.wakes = Wakes()
        self.watches = OwnedWatches(
            self.api,
            self.wakes,
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
        return await self.wakes.wait(key, 0.0)

    def _reassignments(self, namespace: str, config_map: str) -> Iterator[ObjectKey]:
        if (namespace, config_map) == ("a", "plan"):
            yield MOVE


async def test_parts_wake_their_broker_set() -> None:
    house = House()
    house.api.put(PODS, of_one("one-broker-0"))
    async with house.watching():
        assert not await house.is_woken(ONE)
        changes: list[Callable[[], Any]] = [
            lambda: house.api.put(PODS, {**of_one("one-broker-0"), "status": {"phase": "Running"}}),
            lambda: house.api.put(PODS, of_one("one-broker-1")),
            lambda: house.api.put(STATEFUL_SETS, of_one("one-broker")),
            lambda: house.api.put(PERSISTENT_VOLUME_CLAIMS, of_one("data-one-broker-0")),
            lambda: house.api.put(CONFIG_MAPS, of_one("one-config")),
        ]
        for change in changes:
            change()
            assert await house.is_woken(ONE)
        await house.api.delete(PODS, "a", "one-broker-0")
        assert await house.is_woken(ONE)


async def test_others_do_not() -> None:
    house = House()
    async with house.watching():
        house.api.put(PODS, part("web-0", app="web"))
        house.api.put(CONFIG_MAPS, part("kube-root-ca.crt"))
        house.api.put(PODS, part("one-broker-0", "b", **{LABEL: "one"}))
        assert not await house.is_woken(ONE)


async def test_a_plan_wakes_the_reassignments_that_name_it() -> None:
    house = House()
    async with house.watching():
        house.api.put(CONFIG_MAPS, part("plan"))
        assert await house.is_woken(MOVE)
        assert not await house.is_woken(ONE)


async def test_what_was_made_for_a_reassignment_wakes_it() -> None:
    house = House()
    async with house.watching():
        house.api.put(CONFIG_MAPS, part("p-1-plan", **{"ballast.dev/reassignment": "move"}))
        assert await house.is_woken(MOVE)


async def test_only_metadata_is_asked_for_and_labels_are_the_servers_matter() -> None:
    house = House()
    async with house.watching():
        asked = sorted(plural for verb, plural, _, _ in house.api.requests if verb == "watch")
    expected = sorted(resource.plural for resource in (*OWNED, CONFIG_MAPS, NODES))
    assert asked == expected


async def test_a_namespace_is_followed_once_everything_was_listed() -> None:
    house = House()
    assert not house.watches.is_complete("a")
    async with house.watching():
        assert house.watches.is_complete("a")
        assert not house.watches.is_complete("b")


async def test_a_kind_that_cannot_be_listed_is_not_followed() -> None:
    house = House()
    house.api.fail_next("watch", Forbidden("no", status=403))
    with pytest.raises(ExceptionGroup):
        async with house.watching():
            assert not house.watches.is_complete("a")


async def test_what_may_have_been_missed_wakes_all_broker_sets() -> None:
    house = House()
    async with house.watching():
        assert not await house.is_woken(ONE)
        house.api.relist()
        assert await house.is_woken(ONE)


async def test_labels_of_nodes_wake_all_broker_sets() -> None:
    house = House()
    house.api.put(NODES, node("a"))
    async with house.watching():
        assert not await house.is_woken(ONE)
        house.api.put(NODES, {**node("a"), "status": {"heartbeat": 1}})
        assert not await house.is_woken(ONE)
        house.api.put(NODES, node("b"))
        assert await house.is_woken(ONE)
        await house.api.delete(NODES, None, "n1")
        assert await house.is_woken(ONE)
        house.api.put(NODES, node(None))
        assert await house.is_woken(ONE)


async def test_nodes_are_left_alone_without_rights_on_them() -> None:
    house = House()
    house.watches = OwnedWatches(
        house.api,
        house.wakes,
        [None],
        reassignments=house._reassignments,
        broker_sets=lambda: [ONE],
        is_watching_nodes=False,
    )
    async with house.watching():
        house.api.put(NODES, node("b"))
        assert not await house.is_woken(ONE)
