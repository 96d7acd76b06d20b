"""Reads the plan that a reassignment names, from the ConfigMap that holds it.

The ConfigMap has Kafka's reassignment JSON, or the index of a plan in ``ballast-plan/v1`` chunks.
Up to `EXECUTABLE_PARTITIONS` the whole plan is returned. Of a larger one every line is checked and
counted, one chunk in memory at a time, and each of its pieces is read when it is to be executed.
"""

import asyncio
import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ballast.kube.api.errors import NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS, Document
from ballast.kube.reassignments.state_store import StoredObject
from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ManifestRejected, PlanRejected
from ballast.reassign.plan.index import CHUNK_KEY, INDEX_KEY, PlanIndex, is_index
from ballast.reassign.plan.lines import LogDirMoves
from ballast.reassign.plan.pieces import Piece
from ballast.reassign.plan.reader import PlanReader, checked_summary
from ballast.reassign.plan.summary import PlanSummarizer, PlanSummary
from ballast.reassign.ports import Clock
from ballast.reassign.spec.plan_manifest import PlanConfigMap, read_kafka_plan
from ballast.reassign.spec.spec import Assignments
from ballast.reassign.state.persisted_state import PersistedState

PATH: Final = "spec.plan.configMapRef"
EXECUTABLE_PARTITIONS: Final = 50_000
"""A larger plan is executed in pieces of this size: as a whole it would not fit in memory."""
MAX_PARTITIONS: Final = 1_000_000
PLAN_REREAD_S: Final = 30.0
"""The interval at which a plan is checked for changes."""
DEFAULT_KEYS: Final = (INDEX_KEY, "reassignment.json")
"""The keys that are tried in a ConfigMap with several entries."""


class PlanNotReadable(Exception):
    """The plan does not exist or is invalid; it may be corrected without a change of the spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPlan:
    """A plan and where it came from."""

    assignments: Assignments
    """Empty when the plan is executed in pieces, and none was chosen yet."""
    summary: PlanSummary | None = None
    """Of a plan that is executed in pieces."""
    objects: tuple[StoredObject, ...] = ()
    """The ConfigMaps it was read from."""
    version: str = ""
    """``metadata.resourceVersion`` of the ConfigMap that the spec names."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The fields of ``status.plan`` for a plan that was generated."""


class PlanLoader:
    """Reads one reassignment's plan, and again after `PLAN_REREAD_S`: a user may change it."""

    def __init__(self, api: KubernetesApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._of: tuple[str, PlanConfigMap] | None = None
        """Whose plan it is, and where."""
        self._read_at = 0.0
        self._plan: LoadedPlan | None = None

    async def load(self, reassignment: ReassignmentObject, source: PlanConfigMap) -> LoadedPlan:
        """Return the plan. Raises `PlanNotReadable` and `KubernetesError`."""
        now = self._clock.now()
        if (reassignment.uid, source) != self._of:
            self._of, self._plan = (reassignment.uid, source), None
        if self._plan is None or now - self._read_at >= PLAN_REREAD_S:
            self._plan = await load_plan(self._api, reassignment.namespace, source, self._plan)
            self._read_at = now
        return self._plan


async def load_plan(
    api: KubernetesApi, namespace: str, source: PlanConfigMap, known: LoadedPlan | None = None
) -> LoadedPlan:
    """Return the plan in a ConfigMap; ``known`` when that has not changed since.

    Raises `PlanNotReadable` and `KubernetesError`.
    """
    try:
        document = await api.get(CONFIG_MAPS, namespace, source.name)
    except NotFound as error:
        raise PlanNotReadable(f"{PATH}.name: there is no ConfigMap {source.name}") from error
    version = str(document["metadata"]["resourceVersion"])
    if known is not None and known.version == version:
        return known
    key, content = entry(document, source)
    path = f"{PATH}: {source.name}/{key}"
    try:
        text = content.decode()
        if is_index(text):
            index = PlanIndex.decode(text)
            return await _read_chunks(api, namespace, index, source.name, version)
        assignments = await asyncio.to_thread(read_kafka_plan, text, path)
    except UnicodeDecodeError as error:
        raise PlanNotReadable(f"{path} is not UTF-8") from error
    except PlanRejected as error:
        raise PlanNotReadable(f"{path}: {error}") from error
    except ManifestRejected as error:
        raise PlanNotReadable(str(error)) from error
    if len(assignments.targets) > EXECUTABLE_PARTITIONS:
        raise PlanNotReadable(f"{path} has more than {EXECUTABLE_PARTITIONS} partitions")
    return LoadedPlan(assignments=assignments, version=version)


def remembered_plan(memory: PersistedState) -> LoadedPlan:
    """Return the plan that is remembered, which stands in for ConfigMaps that are gone."""
    if memory.piece is None:
        return LoadedPlan(assignments=Assignments.of_plan(memory.plan))
    return LoadedPlan(assignments=Assignments.of_piece(memory.plan, memory.piece))


async def load_piece(api: KubernetesApi, namespace: str, piece: Piece) -> Assignments:
    """Return one piece of the plan whose digest it names; all of the plan is read and checked.

    Raises `PlanNotReadable` and `KubernetesError`.
    """
    try:
        document = await api.get(CONFIG_MAPS, namespace, piece.source)
        # The plan was found under one of the keys where it is looked for.
        index = next(
            PlanIndex.decode(text)
            for text in (document.get("data") or {}).values()
            if is_index(text)
        )
        if (index.digest, index.partitions) != (piece.plan_digest, piece.partitions):
            raise PlanNotReadable(f"{PATH}: ConfigMap {piece.source} holds another plan")
        reading = await _read(api, namespace, index, range(piece.first, piece.end))
    except (NotFound, StopIteration) as error:
        raise PlanNotReadable(f"{PATH}: the plan in {piece.source} is gone") from error
    except PlanRejected as error:
        raise PlanNotReadable(f"{PATH}: {error}") from error
    return Assignments(
        targets=reading.targets, origins=reading.origins, log_dirs=reading.log_dirs, piece=piece
    )


def entry(document: Document, source: PlanConfigMap) -> tuple[str, bytes]:
    """Return the key and the bytes of the entry that ``source`` names, or of the likely one.

    Raises `PlanNotReadable`.
    """
    texts, binaries = document.get("data") or {}, document.get("binaryData") or {}
    keys = {*texts, *binaries}
    likely = [key for key in DEFAULT_KEYS if key in keys] or sorted(keys)
    key = source.key
    if key is None:
        if len(likely) != 1:
            raise PlanNotReadable(
                f"{PATH}.key: is required: ConfigMap {source.name} has {len(keys)} entries"
            )
        key = likely[0]
    if key in texts:
        return key, str(texts[key]).encode()
    if key not in binaries:
        raise PlanNotReadable(f"{PATH}.key: ConfigMap {source.name} has no entry {key}")
    return key, _decoded(document, key)


async def _read_chunks(
    api: KubernetesApi, namespace: str, index: PlanIndex, name: str, version: str
) -> LoadedPlan:
    """Return the plan of an index. Raises `PlanRejected`, `PlanNotReadable`."""
    if index.partitions > MAX_PARTITIONS:
        raise PlanNotReadable(
            f"{PATH}: the plan has {index.partitions} partitions, more than {MAX_PARTITIONS}: "
            "split it into several"
        )
    is_large = index.partitions > EXECUTABLE_PARTITIONS
    reading = await _read(api, namespace, index, range(0 if is_large else index.partitions))
    summary = checked_summary(index, reading.summarizer)
    return LoadedPlan(
        assignments=Assignments(
            targets=reading.targets, origins=reading.origins, log_dirs=reading.log_dirs
        ),
        summary=summary if is_large else None,
        objects=(
            StoredObject(name=name, digest=index.digest),
            *(StoredObject(name=chunk.name, digest=chunk.digest) for chunk in index.chunks),
        ),
        version=version,
    )


async def _read(api: KubernetesApi, namespace: str, index: PlanIndex, kept: range) -> "_Reading":
    """Read and check all chunks, keeping the partitions at some places of the plan."""
    reading = _Reading(index, kept)
    while (chunk := reading.reader.next_chunk) is not None:
        try:
            document = await api.get(CONFIG_MAPS, namespace, chunk.name)
        except NotFound as error:
            raise PlanNotReadable(f"{PATH}: there is no ConfigMap {chunk.name}") from error
        # In a thread, so that a plan of a million partitions does not block the event loop.
        await asyncio.to_thread(reading.take, _decoded(document, CHUNK_KEY))
    reading.reader.finish()
    return reading


class _Reading:
    """A plan while it is read, chunk by chunk."""

    def __init__(self, index: PlanIndex, kept: range) -> None:
        self.reader = PlanReader(index)
        self.summarizer = PlanSummarizer()
        self.targets: dict[TopicPartition, tuple[int, ...]] = {}
        self.origins: dict[TopicPartition, tuple[int, ...]] = {}
        self.log_dirs: dict[TopicPartition, LogDirMoves] = {}
        self._kept = kept
        self._read = 0
        """Partitions of the lines before."""

    def take(self, data: bytes) -> None:
        """Read the next chunk. Raises `PlanRejected`."""
        for line in self.reader.read(data):
            self.summarizer.add(line)
            before, self._read = self._read, self._read + len(line.partitions)
            first, end = max(self._kept.start, before), min(self._kept.stop, self._read)
            for place in range(first - before, end - before):
                tp = TopicPartition(line.topic, line.partitions[place])
                self.origins[tp], self.targets[tp] = line.origins[place], line.targets[place]
                if moves := line.log_dirs_of(place):
                    self.log_dirs[tp] = moves


def _decoded(document: Document, key: str) -> bytes:
    name = document["metadata"]["name"]
    try:
        return base64.b64decode((document.get("binaryData") or {})[key], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise PlanNotReadable(f"{PATH}: ConfigMap {name} has no bytes under {key}") from error
