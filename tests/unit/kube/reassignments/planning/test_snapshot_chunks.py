"""Snapshots in ConfigMaps: whole or not there, and never another's."""

import json
import zlib

import pytest

from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.kube.reassignments.planning.snapshot_chunks import (
    PackedSnapshot,
    SnapshotTooLarge,
    delete_snapshot_chunks,
    pack,
    read_snapshot_chunks,
    write_snapshot_chunks,
)
from tests.fakes.kubernetes import FakeKubernetes

METADATA = {"name": "grow", "namespace": "ns", "uid": "u"}
OWNER = ReassignmentObject(document={"metadata": METADATA})
ATTEMPT = Attempt(owner=OWNER, plan="grow-1", number=1)


def line(topic: int, partitions: int = 1000) -> bytes:
    replicas = [[(7919 * topic * p) % 997, (104_729 * p) % 991] for p in range(partitions)]
    return json.dumps({"topic": f"topic-{topic}", "replicas": replicas}).encode() + b"\n"


def packed(topics: int = 60, max_chunk_bytes: int = 64 * 1024) -> PackedSnapshot:
    return pack((line(topic) for topic in range(topics)), max_chunk_bytes)


def text(snapshot: PackedSnapshot) -> bytes:
    return b"".join(zlib.decompress(chunk, 16 + zlib.MAX_WBITS) for chunk in snapshot.chunks)


def test_chunks_are_small_and_hold_whole_lines() -> None:
    snapshot = packed()
    assert len(snapshot.chunks) > 2
    assert max(map(len, snapshot.chunks)) <= 64 * 1024
    assert text(snapshot) == b"".join(line(topic) for topic in range(60))
    for chunk in snapshot.chunks:
        assert zlib.decompress(chunk, 16 + zlib.MAX_WBITS).endswith(b"\n")


def test_the_digest_is_that_of_the_text() -> None:
    assert packed(max_chunk_bytes=200_000).digest == packed().digest
    assert packed(59).digest != packed().digest


def test_a_line_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(SnapshotTooLarge, match="topic-3"):
        pack([line(3, 100_000)], 64 * 1024)


async def test_what_is_written_is_read() -> None:
    api = FakeKubernetes()
    await write_snapshot_chunks(api, ATTEMPT, packed())
    assert await read_snapshot_chunks(api, ATTEMPT) == packed()
    stored = api.all(CONFIG_MAPS)
    assert all(d["immutable"] for d in stored)
    assert max(len(json.dumps(d)) for d in stored) < 1024 * 1024
    assert {d["metadata"]["ownerReferences"][0]["uid"] for d in stored} == {"u"}


async def test_a_snapshot_whose_writer_was_killed_is_none() -> None:
    api = FakeKubernetes()
    await write_snapshot_chunks(api, ATTEMPT, packed())
    last = api.all(CONFIG_MAPS)[-1]["metadata"]["name"]
    await api.delete(CONFIG_MAPS, "ns", last)
    assert await read_snapshot_chunks(api, ATTEMPT) is None
    await write_snapshot_chunks(api, ATTEMPT, packed(7))
    assert await read_snapshot_chunks(api, ATTEMPT) == packed(7)


async def test_others_are_left_alone() -> None:
    api = FakeKubernetes()
    second = Attempt(owner=OWNER, plan="grow-2", number=2)
    before = ReassignmentObject(document={"metadata": {**METADATA, "uid": "before"}})
    old = Attempt(owner=before, plan="old-1", number=1)
    for attempt in (old, ATTEMPT, second):
        await write_snapshot_chunks(api, attempt, packed(3))
    await delete_snapshot_chunks(api, ATTEMPT)
    assert await read_snapshot_chunks(api, ATTEMPT) is None
    assert await read_snapshot_chunks(api, second) == packed(3)
    assert await read_snapshot_chunks(api, old) == packed(3)


async def test_nobody_reads_what_is_no_snapshot() -> None:
    api = FakeKubernetes()
    await write_snapshot_chunks(api, ATTEMPT, packed(3))
    (document,) = api.all(CONFIG_MAPS)
    broken: tuple[dict[str, str], ...] = ({}, {"snapshot.jsonl.gz": "?"})
    for data in broken:
        api.put(CONFIG_MAPS, {**document, "binaryData": data})
        assert await read_snapshot_chunks(api, ATTEMPT) is None
    metadata = {**document["metadata"], "annotations": {}}
    api.put(CONFIG_MAPS, {**document, "metadata": metadata})
    assert await read_snapshot_chunks(api, ATTEMPT) is None
