"""A snapshot in ConfigMaps: written before an engine begins, read by the engine.

Each chunk is gzip of whole lines, with the number of chunks and the digest of the whole. So the
incomplete snapshot of a killed writer is recognised, and another one is taken.
"""

import base64
import binascii
import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.kube.api.errors import NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import CONFIG_MAPS, FIELD_MANAGER, Document
from ballast.kube.reassignments.planning.plan_attempt import Attempt
from ballast.reassign.generate.generation_names import (
    CHUNK_LABEL,
    CHUNKS_ANNOTATION,
    REASSIGNMENT_LABEL,
    SNAPSHOT_DIGEST_ANNOTATION,
    SNAPSHOT_KEY,
    SNAPSHOT_LABEL,
    snapshot_object,
)
from ballast.reassign.plan.chunks import MAX_WRITTEN_BYTES, OpenChunk

MAX_CHUNKS: Final = 1000
_MANAGED: Final = {"app.kubernetes.io/managed-by": FIELD_MANAGER}


class SnapshotTooLarge(Exception):
    """A snapshot that does not fit into ConfigMaps; the text says what of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedSnapshot:
    """A whole snapshot, compressed."""

    digest: str
    """``sha256:…`` of the uncompressed text."""
    chunks: tuple[bytes, ...]


def pack(lines: Iterable[bytes], max_chunk_bytes: int = MAX_WRITTEN_BYTES) -> PackedSnapshot:
    """Return the lines, each with its line feed, in chunks. Raises `SnapshotTooLarge`."""
    digest = hashlib.sha256()
    chunks: list[bytes] = []
    open_chunk = OpenChunk(max_chunk_bytes)
    for line in lines:
        digest.update(line)
        if len(line) > max_chunk_bytes and len(zlib.compress(line)) > max_chunk_bytes * 9 // 10:
            raise SnapshotTooLarge(f"one line, {line[:60]!r}…, does not fit into a ConfigMap")
        if not open_chunk.has_room(line):
            chunks.append(open_chunk.close().data)
            open_chunk = OpenChunk(max_chunk_bytes)
        open_chunk.add(line, 0)
    if open_chunk.text_bytes:
        chunks.append(open_chunk.close().data)
    if len(chunks) > MAX_CHUNKS:
        raise SnapshotTooLarge(f"it would take {len(chunks)} ConfigMaps, more than {MAX_CHUNKS}")
    return PackedSnapshot(digest=f"sha256:{digest.hexdigest()}", chunks=tuple(chunks))


async def read_snapshot_chunks(api: KubernetesApi, attempt: Attempt) -> PackedSnapshot | None:
    """Return the snapshot of an attempt; None when it does not exist or is incomplete.

    Raises `KubernetesError`.
    """
    found = await _chunks_of(api, attempt)
    chunks: list[bytes] = []
    digests = set()
    for number, document in enumerate(found):
        metadata = document["metadata"]
        annotations: Mapping[str, str] = metadata.get("annotations") or {}
        digests.add(annotations.get(SNAPSHOT_DIGEST_ANNOTATION))
        content = _content(document)
        is_next = metadata["labels"].get(CHUNK_LABEL) == str(number)
        if content is None or not is_next or annotations.get(CHUNKS_ANNOTATION) != str(len(found)):
            return None
        chunks.append(content)
    digest = digests.pop() if len(digests) == 1 else None
    return PackedSnapshot(digest=digest, chunks=tuple(chunks)) if digest else None


async def write_snapshot_chunks(
    api: KubernetesApi, attempt: Attempt, packed: PackedSnapshot
) -> None:
    """Store a snapshot in place of an incomplete one. Raises `KubernetesError`."""
    await delete_snapshot_chunks(api, attempt)
    for number, chunk in enumerate(packed.chunks):
        document = _document(attempt, packed, number, chunk)
        await api.create(CONFIG_MAPS, attempt.owner.namespace, document)


async def delete_snapshot_chunks(api: KubernetesApi, attempt: Attempt) -> None:
    """Delete an attempt's snapshot. Raises `KubernetesError`."""
    for document in await _chunks_of(api, attempt):
        metadata, namespace = document["metadata"], attempt.owner.namespace
        try:
            await api.delete(CONFIG_MAPS, namespace, metadata["name"], uid=metadata["uid"])
        except NotFound:
            continue


async def _chunks_of(api: KubernetesApi, attempt: Attempt) -> list[Document]:
    """Return an attempt's chunks in their order."""
    owner = attempt.owner
    labels = f"{REASSIGNMENT_LABEL}={owner.name},{SNAPSHOT_LABEL}={attempt.number}"
    found = await api.list(CONFIG_MAPS, owner.namespace, labels=labels)
    ours = [one for one in found if owner.owns(one)]
    return sorted(ours, key=lambda one: str(one["metadata"]["name"]))


def _document(
    attempt: Attempt, packed: PackedSnapshot, number: int, chunk: bytes
) -> dict[str, Any]:
    owner = attempt.owner
    return {
        "metadata": {
            "name": snapshot_object(attempt.plan, number),
            "namespace": owner.namespace,
            "labels": {
                **_MANAGED,
                REASSIGNMENT_LABEL: owner.name,
                SNAPSHOT_LABEL: str(attempt.number),
                CHUNK_LABEL: str(number),
            },
            "annotations": {
                CHUNKS_ANNOTATION: str(len(packed.chunks)),
                SNAPSHOT_DIGEST_ANNOTATION: packed.digest,
            },
            "ownerReferences": [owner.owner_reference()],
        },
        "immutable": True,
        "binaryData": {SNAPSHOT_KEY: base64.b64encode(chunk).decode()},
    }


def _content(document: Document) -> bytes | None:
    try:
        return base64.b64decode((document.get("binaryData") or {})[SNAPSHOT_KEY], validate=True)
    except (KeyError, TypeError, binascii.Error):
        return None
