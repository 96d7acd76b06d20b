"""Snapshots and plans in ConfigMaps: chunks with an index that is written last.

All are immutable. An object that exists already is kept if its content is the same (an earlier
driver of the same attempt wrote it and ended half-way); other content ends the job.
"""

import base64
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ballast.reassign.plan.chunks import Chunk, ChunkedPlan, PlanWriter
from ballast.reassign.plan.index import CHUNK_KEY, INDEX_KEY, ChunkReference, PlanIndex
from ballast.reassign.plan.lines import PlanLine
from ballast.spark.errors import ChunkTaken, PlanJobFailed
from ballast.spark.ports import ConfigMaps, Document

REASSIGNMENT_LABEL = "ballast.dev/reassignment"
SNAPSHOT_LABEL = "ballast.dev/snapshot"
PLAN_LABEL = "ballast.dev/plan"
CHUNK_LABEL = "ballast.dev/chunk"
COUNT_ANNOTATION = "ballast.dev/chunks"
DIGEST_ANNOTATION = "ballast.dev/snapshot-digest"
SNAPSHOT_KEY = "snapshot.jsonl.gz"
SUMMARY_KEY = "summary"
INFEASIBLE_KEY = "infeasible"

MAX_SNAPSHOT_CHUNKS = 1000
_MAX_TEXT_BYTES = 256 * 1024 * 1024
"""Of one chunk, unpacked."""
_PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The reassignment whose plan is made, and the names of the plan's objects."""

    namespace: str
    reassignment: str
    uid: str
    plan_name: str
    attempt: str


class SnapshotChunks:
    """The chunks of one snapshot."""

    def __init__(self, maps: ConfigMaps, work: Work) -> None:
        self._maps = maps
        self._names: list[str] = []
        self.digest = ""
        """Of the snapshot, as its chunks say; empty where they do not."""
        self._find(work)

    def read(self) -> Iterator[bytes]:
        """Yield the text of the snapshot, in pieces. Raises `PlanJobFailed`."""
        for name in self._names:
            document = self._maps.get(name)
            if document is None:
                raise PlanJobFailed(f"ConfigMap {name} of the snapshot is gone")
            yield from _inflated(name, _stored(document, SNAPSHOT_KEY))

    def _find(self, work: Work) -> None:
        labels = {REASSIGNMENT_LABEL: work.reassignment, SNAPSHOT_LABEL: work.attempt}
        by_number: dict[int, str] = {}
        count = None
        for document in self._maps.find(labels):
            metadata = document["metadata"]
            number = metadata.get("labels", {}).get(CHUNK_LABEL, "")
            if not number.isdecimal() or int(number) >= MAX_SNAPSHOT_CHUNKS:
                raise PlanJobFailed(f"ConfigMap {metadata['name']} is chunk {number!r}")
            by_number[int(number)] = metadata["name"]
            annotations = metadata.get("annotations") or {}
            count = annotations.get(COUNT_ANNOTATION, count)
            self.digest = annotations.get(DIGEST_ANNOTATION, self.digest)
        expected = len(by_number) if count is None else int(count)
        if not by_number or sorted(by_number) != list(range(expected)):
            raise PlanJobFailed(f"of the snapshot's chunks only {sorted(by_number)} exist")
        self._names = [by_number[number] for number in range(expected)]


class PlanStore:
    """Writes a plan: its chunks as they are made, and then its index."""

    def __init__(self, maps: ConfigMaps, work: Work, snapshot_digest: str) -> None:
        self._maps = maps
        self._work = work
        self._snapshot_digest = snapshot_digest

    def write(self, lines: Iterator[bytes], summary: Mapping[str, Any]) -> ChunkedPlan:
        """Write a plan; return it. Raises `PlanRejected` and `PlanJobFailed`."""
        writer = PlanWriter()
        for line in lines:
            writer.add(PlanLine.decode(line))
        plan = writer.finish()
        for number, chunk in enumerate(plan.chunks):
            data = base64.b64encode(chunk.data).decode()
            self._put(f"{self._work.plan_name}-plan-{number:04}", {"binaryData": {CHUNK_KEY: data}})
        index = self._index(plan).encode()
        document = {INDEX_KEY: index, SUMMARY_KEY: msgspec.json.encode(summary).decode()}
        self._put(f"{self._work.plan_name}-plan", {"data": document})
        return plan

    def write_infeasible(self, reason: Mapping[str, Any]) -> None:
        """Write that there is no such plan. Raises `PlanJobFailed`."""
        document = {INFEASIBLE_KEY: msgspec.json.encode(reason).decode()}
        self._put(f"{self._work.plan_name}-plan", {"data": document})

    def _index(self, plan: ChunkedPlan) -> PlanIndex:
        index = plan.index(self._work.plan_name)
        named = zip(index.chunks, plan.chunks, strict=True)
        return msgspec.structs.replace(
            index,
            chunks=tuple(
                _renamed(reference, f"{self._work.plan_name}-plan-{number:04}", chunk)
                for number, (reference, chunk) in enumerate(named)
            ),
        )

    def _put(self, name: str, content: Mapping[str, Any]) -> None:
        work = self._work
        document: Document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": work.namespace,
                "labels": {REASSIGNMENT_LABEL: work.reassignment, PLAN_LABEL: work.attempt},
                "annotations": {DIGEST_ANNOTATION: self._snapshot_digest},
                "ownerReferences": [
                    {
                        "apiVersion": "ballast.dev/v1alpha1",
                        "kind": "PartitionReassignment",
                        "name": work.reassignment,
                        "uid": work.uid,
                        "controller": False,
                    }
                ],
            },
            "immutable": True,
            **content,
        }
        if self._maps.create(document):
            return
        existing = self._maps.get(name) or {}
        if any(existing.get(key) != value for key, value in content.items()):
            raise ChunkTaken(f"ConfigMap {name} exists already and is not of this plan")


def _renamed(reference: ChunkReference, name: str, chunk: Chunk) -> ChunkReference:
    assert reference.digest == chunk.digest, "references stand in the order of chunks"
    return msgspec.structs.replace(reference, name=name)


def _stored(document: Document, key: str) -> bytes:
    try:
        return base64.b64decode(document["binaryData"][key], validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise PlanJobFailed(f"ConfigMap {document['metadata']['name']} has no {key}") from error


def _inflated(name: str, data: bytes) -> Iterator[bytes]:
    """Yield what a gzip member holds, in pieces of bounded size."""
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    size = 0
    try:
        while not inflater.eof:
            piece = inflater.decompress(data, _PIECE_BYTES)
            data = inflater.unconsumed_tail
            size += len(piece)
            if size > _MAX_TEXT_BYTES or (not piece and not inflater.eof):
                raise PlanJobFailed(f"ConfigMap {name} is gzip that breaks off or is too large")
            yield piece
    except zlib.error as error:
        raise PlanJobFailed(f"ConfigMap {name} is not gzip: {error}") from error
