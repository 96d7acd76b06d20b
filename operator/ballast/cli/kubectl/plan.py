"""The plan of a reassignment, read from where the operator keeps it; what it does to each broker.

What was saved for the move has the partitions as they were. A plan too large for that was given in
chunks, which have them too. Both are held to the digest in the status.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ballast.cli.kubectl.client import CONFIG_MAPS, Document, Kubectl, ObjectNotFound
from ballast.cli.kubectl.objects import Reassignment, at, number
from ballast.reassign.errors import PlanRejected, StateMismatch
from ballast.reassign.plan.index import CHUNK_KEY, INDEX_KEY, PlanIndex
from ballast.reassign.plan.plan import lines_of
from ballast.reassign.plan.reader import summarize
from ballast.reassign.plan.summary import BrokerChange, PlanSummarizer, PlanSummary
from ballast.reassign.state.persisted_state import PersistedState

STATE_KEY: Final = "document.json.gz"
"""Under which key the operator keeps what it remembers of a move, whole or in parts."""
_MAX_STATE_BYTES = 128 * 1024 * 1024


class PlanNotShown(Exception):
    """Why the plan cannot be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRow:
    """One broker before and after a plan."""

    broker_id: int
    replicas: tuple[int, int]
    leaders: tuple[int, int]
    replicas_in: int
    replicas_out: int
    bytes_in: int | None
    """An estimate: as if all replicas that move were of one size; None = not known."""
    bytes_held: tuple[int, int] | None
    """Before and after; None if the status of the broker set has no bytes."""

    @property
    def changes(self) -> int:
        """Replicas and leaders that come and go."""
        return self.replicas_in + self.replicas_out + abs(self.leaders[1] - self.leaders[0])


def read_summary(kubectl: Kubectl, reassignment: Reassignment) -> PlanSummary:
    """Return the sums of the plan that a reassignment's status names.

    Raises `PlanNotShown` and `KubectlFailed`.
    """
    digest = reassignment.digest
    if digest is None:
        why = reassignment.why or "the operator has not reconciled it"
        raise PlanNotShown(f"{reassignment.name} has no plan yet: {reassignment.state} - {why}")
    try:
        summary = _saved(kubectl, reassignment) or _given(kubectl, reassignment)
    except (PlanRejected, StateMismatch, ValueError, KeyError, TypeError, zlib.error) as error:
        raise PlanNotShown(f"the plan of {reassignment.name} cannot be read: {error}") from error
    if summary is None:
        raise PlanNotShown(f"the plan of {reassignment.name} is not stored where it can be read")
    if summary.digest != digest:
        raise PlanNotShown(f"the plan found is {summary.digest}, the status says {digest}")
    return summary


def broker_rows(
    summary: PlanSummary, reassignment: Reassignment, broker_set: Document | None
) -> tuple[BrokerRow, ...]:
    """Return a row for each broker that is there or that the plan names.

    Counts are those of the whole cluster while nothing has moved and the broker set's status has
    them, else those of the plan's own partitions.
    """
    current = {} if reassignment.has_begun else _held(broker_set)
    if not summary.brokers.keys() <= current.keys():
        current = {}
    moved = number(reassignment.document, "status", "plan", "bytesToMove")
    each = None
    if moved is not None and summary.replica_moves:
        each = moved / summary.replica_moves
    return tuple(
        _row(broker, summary.brokers.get(broker, BrokerChange()), current.get(broker), each)
        for broker in sorted({*summary.brokers, *current})
    )


def counts_whole_cluster(rows: tuple[BrokerRow, ...]) -> bool:
    """Whether the counts of these rows are those of the whole cluster."""
    return any(row.bytes_held is not None for row in rows)


def _row(
    broker: int, change: BrokerChange, current: tuple[int, int, int] | None, each: float | None
) -> BrokerRow:
    replicas, leaders, size = current or (change.replicas, change.leaders, 0)
    came = None if each is None else round(change.replicas_in * each)
    went = 0 if each is None else round(change.replicas_out * each)
    return BrokerRow(
        broker_id=broker,
        replicas=(replicas, replicas + change.replicas_in - change.replicas_out),
        leaders=(leaders, leaders + change.leaders_in - change.leaders_out),
        replicas_in=change.replicas_in,
        replicas_out=change.replicas_out,
        bytes_in=came,
        bytes_held=None if current is None else (size, max(0, size + (came or 0) - went)),
    )


def _held(broker_set: Document | None) -> dict[int, tuple[int, int, int]]:
    """Return replicas, leaders and bytes by broker; empty unless all are present of all."""
    current: dict[int, tuple[int, int, int]] = {}
    for broker in at(broker_set, "status", "brokers") or ():
        values = [number(broker, key) for key in ("id", "replicas", "leaders", "bytes")]
        present = [value for value in values if value is not None]
        if len(present) != len(values):
            return {}
        broker_id, replicas, leaders, size = present
        current[broker_id] = (replicas, leaders, size)
    return current


def _saved(kubectl: Kubectl, reassignment: Reassignment) -> PlanSummary | None:
    """Return the sums of the plan as it was saved for the move; None when it was not."""
    try:
        index = kubectl.get(CONFIG_MAPS, f"{reassignment.name}-state")
    except ObjectNotFound:
        return None
    uid = at(reassignment.document, "metadata", "uid")
    owners = at(index, "metadata", "ownerReferences") or ()
    if not any(at(owner, "uid") == uid for owner in owners):
        return None
    parts = json.loads(index["data"]["parts"])
    objects = [kubectl.get(CONFIG_MAPS, part["name"]) for part in parts] or [index]
    packed = b"".join(_bytes(part, STATE_KEY) for part in objects)
    inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)
    text = inflater.decompress(packed, _MAX_STATE_BYTES)
    if not inflater.eof:
        raise PlanNotShown("what was saved for the move is larger than it can be")
    plan = PersistedState.from_document(json.loads(text)).plan
    summarizer = PlanSummarizer()
    for line in lines_of(plan.moves):
        summarizer.add(line)
    return summarizer.summary(plan.digest)


def _given(kubectl: Kubectl, reassignment: Reassignment) -> PlanSummary | None:
    """Return the sums of a plan that was given in chunks; None when it was not."""
    objects = at(reassignment.document, "status", "plan", "objects")
    if not isinstance(objects, list) or not objects:
        return None
    config_map = kubectl.get(CONFIG_MAPS, str(at(objects[0], "name")))
    key = at(reassignment.document, "spec", "plan", "configMapRef", "key")
    texts = at(config_map, "data") or {}
    text = texts.get(key or INDEX_KEY) or next(iter(texts.values()), None)
    index = PlanIndex.decode(str(text))

    def chunks() -> Iterator[bytes]:
        for chunk in index.chunks:
            yield _bytes(kubectl.get(CONFIG_MAPS, chunk.name), CHUNK_KEY)

    return summarize(index, chunks())


def _bytes(config_map: Document, key: str) -> bytes:
    try:
        return base64.b64decode(at(config_map, "binaryData", key) or "", validate=True)
    except binascii.Error as error:
        name = at(config_map, "metadata", "name")
        raise PlanRejected(f"ConfigMap {name} has no bytes under {key}") from error
