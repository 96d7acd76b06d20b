"""What runs while the Lease is held: when it begins, and how it ends."""

import asyncio

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.kopf_loop import KINDS_RETRY_S
from tests.unit.kube.kopf_house import MOVE, TENDED, of_kmock, served, tended


async def test_kopf_begins_when_the_kinds_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ballast.kube.kopf_loop.KINDS_RETRY_S", KINDS_RETRY_S / 100)
    async with served() as (house, thread):
        thread.start()
        await house.until(lambda: len(house.requests("GET")) >= 2)
        assert not thread.has_ended
        for resource in TENDED.values():
            house.declare(resource)
        house.put(MOVE)
        await house.until(lambda: ("begun", "move") in house.seen)
        thread.stop()
        await thread.ended()


async def test_it_can_be_stopped_before_it_has_begun() -> None:
    async with served() as (house, thread):
        thread.start()
        await house.until(lambda: len(house.requests("GET")) >= 1)
        thread.stop()
        async with asyncio.timeout(KINDS_RETRY_S - 1):
            await thread.ended()
        assert house.seen == []


async def test_plans_in_config_maps_wake_their_reassignments() -> None:
    async with tended(lambda house: house.put(MOVE)) as house:
        await house.until(lambda: ("begun", "move") in house.seen)
        patch = {"metadata": {"generation": 2}, "spec": {"plan": {"configMapRef": {"name": "p"}}}}
        await house.change(MOVE, patch)
        await house.until(lambda: ("woken", "move") in house.seen)
        await house.until(lambda: house.is_watched(CONFIG_MAPS))
        house.seen.clear()
        metadata = {"name": "p", "namespace": "a", "resourceVersion": "5", "uid": "u"}
        await house.server.post("/api/v1/namespaces/a/configmaps", json={"metadata": metadata})
        await house.until(lambda: ("woken", "move") in house.seen)
        assert of_kmock(CONFIG_MAPS).plural == "configmaps"
