"""What runs while the Lease is held: when it begins, and how it ends."""

import asyncio

import pytest

from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.kopf_loop import KINDS_RETRY_S
from tests.unit.kube.kopf_operator import KINDS, MOVE, leading, of_kmock, served


async def test_kopf_begins_when_the_kinds_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ballast.kube.kopf_loop.KINDS_RETRY_S", KINDS_RETRY_S / 100)
    async with served() as (env, thread):
        thread.start()
        await env.until(lambda: len(env.requests("GET")) >= 2)
        assert not thread.has_ended
        for resource in KINDS.values():
            env.declare(resource)
        env.put(MOVE)
        await env.until(lambda: ("begun", "move") in env.seen)
        thread.stop()
        await thread.ended()


async def test_it_can_be_stopped_before_it_has_begun() -> None:
    async with served() as (env, thread):
        thread.start()
        await env.until(lambda: len(env.requests("GET")) >= 1)
        thread.stop()
        async with asyncio.timeout(KINDS_RETRY_S - 1):
            await thread.ended()
        assert env.seen == []


async def test_plans_in_config_maps_wake_their_reassignments() -> None:
    async with leading(lambda env: env.put(MOVE)) as env:
        await env.until(lambda: ("begun", "move") in env.seen)
        patch = {"metadata": {"generation": 2}, "spec": {"plan": {"configMapRef": {"name": "p"}}}}
        await env.change(MOVE, patch)
        await env.until(lambda: ("woken", "move") in env.seen)
        await env.until(lambda: env.is_watched(CONFIG_MAPS))
        env.seen.clear()
        metadata = {"name": "p", "namespace": "a", "resourceVersion": "5", "uid": "u"}
        await env.server.post("/api/v1/namespaces/a/configmaps", json={"metadata": metadata})
        await env.until(lambda: ("woken", "move") in env.seen)
        assert of_kmock(CONFIG_MAPS).plural == "configmaps"
