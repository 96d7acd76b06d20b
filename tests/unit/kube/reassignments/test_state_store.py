"""What is remembered survives death at every call, whole."""

import asyncio
import base64
import functools
import gzip
import hashlib
import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from ballast.kube.api.errors import AlreadyExists, ApiUnavailable, Conflict
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS, PARTITION_REASSIGNMENTS, Document, Resource
from ballast.kube.reassignments.state_store import INLINE_BYTES, PART_BYTES, ConfigMapStore
from ballast.reassign.errors import StateMismatch
from tests.fakes.crash_point import CrashPoint, Killed
from tests.fakes.kubernetes import FakeKubernetes
from tests.unit.kube.reassignment_cluster import NAMESPACE, FusedKubernetes

SMALL = {"n": 1}
MEBIBYTE = 1024 * 1024


@functools.cache
def large(seed: int, size: int = MEBIBYTE) -> dict[str, object]:
    """Return a document that does not get smaller by compression."""
    noise = random.Random(seed).randbytes(size * 3 // 4)
    return {"seed": seed, "noise": base64.b64encode(noise).decode()}


def owner_in(api: FakeKubernetes) -> ReassignmentObject:
    document = {"metadata": {"name": "move", "namespace": NAMESPACE}, "spec": {}}
    return ReassignmentObject(document=api.put(PARTITION_REASSIGNMENTS, document))


def owner_in_place(api: FakeKubernetes) -> ReassignmentObject:
    found = api.find(PARTITION_REASSIGNMENTS, NAMESPACE, "move")
    assert found is not None
    return ReassignmentObject(document=found)


def store_in(api: FakeKubernetes) -> ConfigMapStore:
    return ConfigMapStore(api, owner_in_place(api))


async def saved(document: Mapping[str, object]) -> FakeKubernetes:
    api = FakeKubernetes()
    await ConfigMapStore(api, owner_in(api)).save(document)
    return api


def names(api: FakeKubernetes) -> list[str]:
    return sorted(found["metadata"]["name"] for found in api.all(CONFIG_MAPS))


def index_of(api: FakeKubernetes) -> dict[str, Any]:
    found = api.find(CONFIG_MAPS, NAMESPACE, "move-state")
    assert found is not None
    return found


async def test_nothing_is_there_at_first() -> None:
    api = FakeKubernetes()
    store = ConfigMapStore(api, owner_in(api))
    assert await store.load() is None
    assert store.objects == ()


async def test_a_small_document_is_one_object_that_goes_with_its_owner() -> None:
    api = await saved(SMALL)
    store = store_in(api)
    assert await store.load() == SMALL
    assert names(api) == ["move-state"]
    assert [stored.name for stored in store.objects] == ["move-state"]
    assert index_of(api)["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "ballast-operator"
    await api.delete(PARTITION_REASSIGNMENTS, NAMESPACE, "move")
    assert names(api) == []


async def test_a_large_document_is_cut_into_objects_under_a_mebibyte() -> None:
    document = large(1)
    api = await saved(document)
    assert await store_in(api).load() == document
    assert len(names(api)) == -(-int(MEBIBYTE * 0.757) // PART_BYTES) + 1
    for found in api.all(CONFIG_MAPS):
        assert len(json.dumps(found)) < MEBIBYTE
        assert found.get("immutable", False) is (found["metadata"]["name"] != "move-state")


@pytest.mark.parametrize(("first", "second"), [(SMALL, large(1)), (large(1), SMALL)])
async def test_what_was_before_is_taken_away(
    first: dict[str, object], second: dict[str, object]
) -> None:
    api = await saved(first)
    store = store_in(api)
    await store.load()
    await store.save(second)
    await store.save({"n": 3})
    assert await store_in(api).load() == {"n": 3}
    assert names(api) == ["move-state"]


async def test_documents_near_the_border_are_kept() -> None:
    for size in (INLINE_BYTES - 10, INLINE_BYTES, INLINE_BYTES + 10, PART_BYTES, PART_BYTES * 2):
        document = large(2, size)
        assert await store_in(await saved(document)).load() == document


def test_killed_at_any_call_the_document_is_the_old_or_the_new_one() -> None:
    old, new = large(1), large(2)
    for after in (False, True):
        for at in range(1, 20):
            crash_point = CrashPoint()
            api = FusedKubernetes(crash_point)
            asyncio.run(ConfigMapStore(api, owner_in(api)).save(old))
            crash_point.at, crash_point.after = len(crash_point.effects) + at, after
            try:
                asyncio.run(store_in(api).save(new))
                is_over = True
            except Killed:
                is_over = False
            crash_point.at = None
            found = asyncio.run(store_in(api).load())
            assert found in (old, new), at
            asyncio.run(store_in(api).save(SMALL))
            assert asyncio.run(store_in(api).load()) == SMALL
            assert names(api) == ["move-state"], "nothing is left lying about"
            if is_over:
                assert at > 4
                break


@pytest.mark.parametrize("verb", ["get", "create", "replace"])
async def test_an_error_leaves_the_old_document_and_saving_again_the_new(verb: str) -> None:
    api = await saved(large(1))
    api.fail_next(verb)
    with pytest.raises(ApiUnavailable):
        await store_in(api).save(large(2))
    assert await store_in(api).load() == large(1)
    await store_in(api).save(large(2))
    assert await store_in(api).load() == large(2)


async def test_an_old_part_that_cannot_be_taken_away_stays_until_later() -> None:
    api = await saved(large(1))
    store = store_in(api)
    api.fail_next("delete", times=2)
    await store.save(SMALL)
    assert len(names(api)) > 1
    assert await store_in(api).load() == SMALL
    assert names(api) == ["move-state"]


async def test_of_two_writers_one_is_refused() -> None:
    api = await saved(SMALL)
    one, two = store_in(api), store_in(api)
    await one.load()
    await two.load()
    await one.save(large(1))
    with pytest.raises(Conflict):
        await two.save(large(2))
    assert await store_in(api).load() == large(1)
    await one.save({"n": 2})
    assert await store_in(api).load() == {"n": 2}


async def test_of_two_first_writers_one_is_refused() -> None:
    api = FakeKubernetes()
    owner = owner_in(api)
    one, two = ConfigMapStore(api, owner), ConfigMapStore(api, owner)
    await one.load()
    await two.load()
    await one.save(SMALL)
    with pytest.raises(Conflict):
        await two.save({"n": 2})
    assert await store_in(api).load() == SMALL


async def test_parts_that_go_while_they_are_read_are_read_anew() -> None:
    api = await saved(large(1))
    writer = store_in(api)
    await writer.load()

    reader = store_in(api)
    original = api.get
    reads = 0

    async def get(resource: Resource, namespace: str | None, name: str) -> Document:
        nonlocal reads
        reads += 1
        found = await original(resource, namespace, name)
        if reads == 1:
            await writer.save(large(2))
        return found

    api.get = get  # type: ignore[method-assign]  # a moment that only a test can choose
    assert await reader.load() == large(2)
    await reader.save(SMALL)


async def test_the_state_of_a_namesake_that_is_gone_is_not_taken_over() -> None:
    api = await saved(SMALL)
    index = index_of(api)
    await api.delete(PARTITION_REASSIGNMENTS, NAMESPACE, "move")
    index["metadata"].pop("uid")
    api.put(CONFIG_MAPS, index)
    store = ConfigMapStore(api, owner_in(api))
    assert await store.load() is None
    await store.save({"n": 2})
    assert await store_in(api).load() == {"n": 2}


async def test_an_object_of_somebody_else_is_left_alone() -> None:
    api = FakeKubernetes()
    owner_in(api)
    mine = {"metadata": {"name": "move-state", "namespace": NAMESPACE}, "data": {"a": "b"}}
    api.put(CONFIG_MAPS, mine)
    for act in (store_in(api).load(), store_in(api).save(SMALL)):
        with pytest.raises(StateMismatch, match="has another owner"):
            await act
    assert index_of(api)["data"] == {"a": "b"}


async def test_a_part_of_that_name_with_another_content_is_refused() -> None:
    api = await saved(SMALL)
    probe = await saved(SMALL)
    await store_in(probe).save(large(1))
    part = next(found for found in probe.all(CONFIG_MAPS) if found["metadata"]["name"][-1] == "0")
    part["metadata"]["ownerReferences"] = [owner_in_place(api).owner_reference()]
    part["binaryData"] = {"document.json.gz": "AAAA"}
    api.put(CONFIG_MAPS, part)
    with pytest.raises((StateMismatch, AlreadyExists)):
        await store_in(api).save(large(1))
    assert await store_in(api).load() == SMALL


@pytest.mark.parametrize(
    "edit",
    [
        {"data": None},
        {"data": {"format": "ballast-state/v2"}},
        {"data": {"format": "ballast-state/v1"}},
        {"binaryData": None},
        {"binaryData": {"document.json.gz": "AAAA"}},
        {"binaryData": {"document.json.gz": "no base64"}},
    ],
)
async def test_what_was_tampered_with_is_refused(edit: dict[str, Any]) -> None:
    api = await saved(SMALL)
    api.put(CONFIG_MAPS, {**index_of(api), **edit})
    with pytest.raises(StateMismatch):
        await store_in(api).load()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
async def test_a_document_that_is_none_is_refused(text: bytes) -> None:

    api = await saved(SMALL)
    index = index_of(api)
    content = gzip.compress(text)
    index["binaryData"] = {"document.json.gz": base64.b64encode(content).decode()}
    index["data"]["digest"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
    api.put(CONFIG_MAPS, index)
    with pytest.raises(StateMismatch):
        await store_in(api).load()


async def test_parts_that_are_gone_for_good_are_reported() -> None:
    api = await saved(large(1))
    part = next(name for name in names(api) if name != "move-state")
    await api.delete(CONFIG_MAPS, NAMESPACE, part)
    with pytest.raises(StateMismatch, match="are not there"):
        await store_in(api).load()


async def test_what_is_discarded_is_gone_and_another_may_be_saved() -> None:
    for document in (SMALL, large(1)):
        api = await saved(document)
        store = store_in(api)
        await store.load()
        await store.discard()
        assert api.all(CONFIG_MAPS) == []
        assert await store_in(api).load() is None
        await store.discard()
        await store.save(SMALL)
        assert await store_in(api).load() == SMALL
