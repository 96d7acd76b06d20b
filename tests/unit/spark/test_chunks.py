import base64
import json
from typing import Any

import pytest

from ballast.reassign.plan.index import PlanIndex
from ballast.reassign.plan.lines import PlanLine
from ballast.reassign.plan.reader import read_plan
from ballast.spark.chunks import PlanStore, SnapshotChunks
from ballast.spark.errors import ChunkTaken, PlanJobFailed
from tests.fakes.config_maps import FakeConfigMaps
from tests.unit.spark.snapshots import DIGEST, WORK, chunked, put_chunks, snapshot_text

LINE = PlanLine(topic="t", partitions=(0, 1), origins=((1, 2), (2, 1)), targets=((3, 2), (1, 2)))


@pytest.fixture
def maps() -> FakeConfigMaps:
    return FakeConfigMaps()


def test_the_chunks_of_a_snapshot_are_its_text(maps: FakeConfigMaps) -> None:
    """Twelve chunks: they are put in order by number, not by name or time."""
    text = snapshot_text()
    chunked(maps, text, lines=1)
    maps.documents = dict(reversed(maps.documents.items()))
    found = SnapshotChunks(maps, WORK)
    assert b"".join(found.read()) == text
    assert found.digest == DIGEST


def test_a_snapshot_that_is_not_whole_is_not_read(maps: FakeConfigMaps) -> None:
    put_chunks(maps, [b"a\n", b"b\n"], total=3)
    with pytest.raises(PlanJobFailed, match=r"chunks only \[0, 1\] exist"):
        SnapshotChunks(maps, WORK)


def test_a_snapshot_that_is_not_there(maps: FakeConfigMaps) -> None:
    with pytest.raises(PlanJobFailed, match=r"chunks only \[\] exist"):
        SnapshotChunks(maps, WORK)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "has no snapshot.jsonl.gz"),
        ({"binaryData": {"snapshot.jsonl.gz": "!"}}, "has no snapshot.jsonl.gz"),
        ({"binaryData": {"snapshot.jsonl.gz": "aGVsbG8="}}, "is not gzip"),
        ({"binaryData": {"snapshot.jsonl.gz": "H4sI"}}, "breaks off"),
    ],
)
def test_a_chunk_that_cannot_be_read(
    maps: FakeConfigMaps, content: dict[str, Any], reason: str
) -> None:
    put_chunks(maps, [b"a\n"])
    name = "move-1-snapshot-0000"
    maps.documents[name] = {"metadata": maps.documents[name]["metadata"], **content}
    with pytest.raises(PlanJobFailed, match=reason):
        list(SnapshotChunks(maps, WORK).read())


def test_a_chunk_without_a_number(maps: FakeConfigMaps) -> None:
    put_chunks(maps, [b"a\n"])
    maps.documents["move-1-snapshot-0000"]["metadata"]["labels"]["ballast.dev/chunk"] = "x"
    with pytest.raises(PlanJobFailed, match="is chunk 'x'"):
        SnapshotChunks(maps, WORK)


def test_a_plan_is_written_and_its_index_last(maps: FakeConfigMaps) -> None:
    plan = PlanStore(maps, WORK, DIGEST).write(iter([LINE.encode()]), {"replicaMoves": 1})
    assert list(maps.documents) == ["move-1-plan-0000", "move-1-plan"]
    for document in maps.documents.values():
        metadata = document["metadata"]
        assert metadata["labels"] == {
            "ballast.dev/reassignment": "move",
            "ballast.dev/plan": "1",
        }
        assert metadata["ownerReferences"][0]["uid"] == "u-1"
        assert metadata["ownerReferences"][0]["controller"] is False
        assert metadata["annotations"] == {"ballast.dev/snapshot-digest": DIGEST}
        assert document["immutable"] is True
    found = maps.documents["move-1-plan"]["data"]
    index = PlanIndex.decode(found["index.json"])
    assert index.digest == plan.summary.digest
    assert json.loads(found["summary"]) == {"replicaMoves": 1}
    stored = base64.b64decode(maps.documents[index.chunks[0].name]["binaryData"]["plan.gz"])
    assert list(read_plan(index, [stored])) == [LINE]


def test_what_the_same_attempt_has_written_is_kept(maps: FakeConfigMaps) -> None:
    """A driver that was killed before the index: the next one goes on."""
    PlanStore(maps, WORK, DIGEST).write(iter([LINE.encode()]), {})
    del maps.documents["move-1-plan"]
    PlanStore(maps, WORK, DIGEST).write(iter([LINE.encode()]), {})
    assert list(maps.documents) == ["move-1-plan-0000", "move-1-plan"]


def test_another_plan_is_not_overwritten(maps: FakeConfigMaps) -> None:
    PlanStore(maps, WORK, DIGEST).write(iter([LINE.encode()]), {})
    before = dict(maps.documents)
    other = PlanLine(topic="u", partitions=(0,), origins=((1,),), targets=((2,),))
    with pytest.raises(ChunkTaken, match="move-1-plan-0000 exists already"):
        PlanStore(maps, WORK, DIGEST).write(iter([other.encode()]), {})
    assert maps.documents == before


def test_why_there_is_no_plan(maps: FakeConfigMaps) -> None:
    PlanStore(maps, WORK, DIGEST).write_infeasible({"rule": "Replicas"})
    assert list(maps.documents) == ["move-1-plan"]
    assert maps.documents["move-1-plan"]["data"] == {"infeasible": '{"rule":"Replicas"}'}
