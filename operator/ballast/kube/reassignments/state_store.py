"""The saved state of one reassignment, in ConfigMaps that the reassignment owns.

An index ``<name>-state`` names the document's parts and is written last, on condition of the
version that was read: so a reader finds the old document or the new one, whenever the writer died,
and of two writers one is refused. A small document stands in the index itself; a larger one is cut
into ``<name>-state-<generation>-<hash>-<n>``. No two generations share a
name, so that a part may be deleted once a later index is stored, and never earlier. Everything is
deleted with the reassignment (ownerReference).
"""

import base64
import binascii
import gzip
import hashlib
import json
import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ballast.kube.api.errors import AlreadyExists, Conflict, KubernetesError, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.api.resources import CONFIG_MAPS, FIELD_MANAGER, PARTITION_REASSIGNMENTS, Document
from ballast.reassign.errors import StateMismatch

log = logging.getLogger(__name__)

PART_BYTES: Final = 640 * 1024
"""In base64 and with its metadata, an object of this size stays under 1 MiB."""
INLINE_BYTES: Final = 256 * 1024
"""Up to here a document stands in the index itself: one write instead of three."""
MAX_DOCUMENT_BYTES: Final = 128 * 1024 * 1024
STATE_OF: Final = "ballast.dev/state-of"
GENERATION: Final = "ballast.dev/state-generation"
_FORMAT: Final = "ballast-state/v1"
_DOCUMENT: Final = "document.json.gz"
_ATTEMPTS: Final = 3
"""How often a document is read because its parts were deleted while it was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """One ConfigMap and what it holds."""

    name: str
    digest: str
    """``sha256:…`` of the bytes."""

    def to_document(self) -> dict[str, str]:
        """Return an entry of ``status.plan.objects`` or ``status.rollback.objects``."""
        return {"name": self.name, "digest": self.digest}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The index as last read or written."""

    version: str
    """``metadata.resourceVersion``."""
    generation: int
    digest: str
    """Of the compressed document."""
    parts: tuple[StoredObject, ...]
    """Empty when the document stands in the index."""
    inline: bytes = b""


class ConfigMapStore:
    """Implements `reassign.ports.StateStore`; raises `KubernetesError` and `StateMismatch`.

    After an error it is unknown what is stored: open another store, which reads it again.
    """

    def __init__(self, api: KubernetesApi, owner: ReassignmentObject) -> None:
        self._api = api
        self._owner = owner
        self._index: _Index | None = None
        self._is_read = False

    @property
    def objects(self) -> tuple[StoredObject, ...]:
        """The ConfigMaps that hold the document."""
        index = self._index
        if index is None:
            return ()
        return (StoredObject(name=self._index_name, digest=index.digest), *index.parts)

    async def load(self) -> Mapping[str, object] | None:
        """Return the document last saved, or None. Raises `StateMismatch` if it is none."""
        for _ in range(_ATTEMPTS):
            self._index = await self._read_index()
            self._is_read = True
            if self._index is None:
                return None
            await self._sweep(self._index)
            try:
                content = self._index.inline or b"".join(
                    [await self._read_part(part) for part in self._index.parts]
                )
            except NotFound:
                continue
            if _digest(content) != self._index.digest:
                raise StateMismatch(f"ConfigMap {self._index_name} holds something else")
            return _unpack(content)
        raise StateMismatch(f"parts that ConfigMap {self._index_name} names are not there")

    async def save(self, document: Mapping[str, object]) -> None:
        """Replace the document; durable and whole when this returns.

        Raises `Conflict` when another process has written since it was read here.
        """
        if not self._is_read:
            self._index = await self._read_index()
            self._is_read = True
        old = self._index
        generation = 1 if old is None else old.generation + 1
        content = _pack(document)
        parts = () if len(content) <= INLINE_BYTES else await self._write_parts(content, generation)
        inline = b"" if parts else content
        version = await self._write_index(old, generation, _digest(content), parts, inline)
        self._index = _Index(
            version=version,
            generation=generation,
            digest=_digest(content),
            parts=parts,
            inline=inline,
        )
        await self._remove([part.name for part in old.parts] if old else [])

    async def discard(self) -> None:
        """Delete the document, its index first: nothing was changed that it describes."""
        index = await self._read_index()
        if index is None:
            return
        await self._delete(self._index_name)
        await self._remove([part.name for part in index.parts])
        self._index, self._is_read = None, False

    @property
    def _index_name(self) -> str:
        return f"{self._owner.name}-state"

    async def _read_index(self) -> _Index | None:
        try:
            config_map = await self._api.get(CONFIG_MAPS, self._owner.namespace, self._index_name)
        except NotFound:
            return None
        if not _is_owned_by(config_map, self._owner.uid):
            await self._delete_index_of_namesake(config_map)
            return None
        return _parse_index(config_map)

    async def _delete_index_of_namesake(self, config_map: Document) -> None:
        """Delete the index of a reassignment of the same name that is gone; leave anything else."""
        owners = config_map["metadata"].get("ownerReferences", ())
        if not any(owner.get("kind") == PARTITION_REASSIGNMENTS.kind for owner in owners):
            raise StateMismatch(f"ConfigMap {self._index_name} has another owner: remove it")
        await self._delete(self._index_name, uid=config_map["metadata"]["uid"])

    async def _read_part(self, part: StoredObject) -> bytes:
        config_map = await self._api.get(CONFIG_MAPS, self._owner.namespace, part.name)
        content = _binary(config_map, _DOCUMENT)
        if _digest(content) != part.digest:
            raise StateMismatch(f"ConfigMap {part.name} holds something else")
        return content

    async def _write_parts(self, content: bytes, generation: int) -> tuple[StoredObject, ...]:
        stem = f"{self._index_name}-{generation}-{hashlib.sha256(content).hexdigest()[:8]}"
        parts = []
        for number, start in enumerate(range(0, len(content), PART_BYTES)):
            piece = content[start : start + PART_BYTES]
            part = StoredObject(name=f"{stem}-{number}", digest=_digest(piece))
            await self._write_part(part, piece, generation)
            parts.append(part)
        return tuple(parts)

    async def _write_part(self, part: StoredObject, piece: bytes, generation: int) -> None:
        document = self._config_map(part.name, generation)
        document |= {"immutable": True, "binaryData": {_DOCUMENT: _text(piece)}}
        try:
            await self._api.create(CONFIG_MAPS, self._owner.namespace, document)
        except AlreadyExists:
            # A save that was killed left it: the name says what it holds.
            if await self._read_part(part) != piece:
                raise

    async def _write_index(
        self,
        old: _Index | None,
        generation: int,
        digest: str,
        parts: tuple[StoredObject, ...],
        inline: bytes,
    ) -> str:
        document = self._config_map(self._index_name, generation)
        document["data"] = {
            "format": _FORMAT,
            "generation": str(generation),
            "digest": digest,
            "parts": json.dumps([part.to_document() for part in parts]),
        }
        if inline:
            document["binaryData"] = {_DOCUMENT: _text(inline)}
        namespace = self._owner.namespace
        if old is None:
            try:
                written = await self._api.create(CONFIG_MAPS, namespace, document)
            except AlreadyExists as error:
                raise Conflict(str(error), status=409, reason="Conflict") from error
        else:
            document["metadata"]["resourceVersion"] = old.version
            written = await self._api.replace(CONFIG_MAPS, namespace, self._index_name, document)
        return str(written["metadata"]["resourceVersion"])

    def _config_map(self, name: str, generation: int) -> Document:
        return {
            "apiVersion": CONFIG_MAPS.api_version,
            "kind": CONFIG_MAPS.kind,
            "metadata": {
                "name": name,
                "namespace": self._owner.namespace,
                "labels": {
                    "app.kubernetes.io/managed-by": FIELD_MANAGER,
                    STATE_OF: self._owner.name,
                    GENERATION: str(generation),
                },
                "ownerReferences": [self._owner.owner_reference()],
            },
        }

    async def _sweep(self, index: _Index) -> None:
        """Delete what saves that were killed have left: no later index can name it."""
        if not index.parts and index.generation == 1:
            return
        config_maps = await self._api.list(
            CONFIG_MAPS, self._owner.namespace, labels=f"{STATE_OF}={self._owner.name}"
        )
        named = {self._index_name, *(part.name for part in index.parts)}
        left = [
            document["metadata"]["name"]
            for document in config_maps
            if document["metadata"]["name"] not in named
            and _is_owned_by(document, self._owner.uid)
            and _generation(document["metadata"]["labels"].get(GENERATION)) <= index.generation
        ]
        await self._remove(left)

    async def _remove(self, names: list[str]) -> None:
        """Delete parts that nothing names any more; what stays is swept later."""
        for name in names:
            try:
                await self._delete(name)
            except KubernetesError as error:
                log.info("ConfigMap %s stays for now: %s", name, error)

    async def _delete(self, name: str, *, uid: str | None = None) -> None:
        try:
            await self._api.delete(CONFIG_MAPS, self._owner.namespace, name, uid=uid)
        except NotFound:
            return


def _parse_index(config_map: Document) -> _Index:
    name = config_map["metadata"]["name"]
    data = config_map.get("data") or {}
    if data.get("format") != _FORMAT:
        raise StateMismatch(f"ConfigMap {name} is not in the format {_FORMAT}")
    try:
        parts = tuple(
            StoredObject(name=str(part["name"]), digest=str(part["digest"]))
            for part in json.loads(data["parts"])
        )
        return _Index(
            version=str(config_map["metadata"]["resourceVersion"]),
            generation=int(data["generation"]),
            digest=str(data["digest"]),
            parts=parts,
            inline=b"" if parts else _binary(config_map, _DOCUMENT),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise StateMismatch(f"ConfigMap {name} cannot be read: {error}") from error


def _binary(config_map: Document, key: str) -> bytes:
    try:
        return base64.b64decode((config_map.get("binaryData") or {})[key], validate=True)
    except (KeyError, TypeError, binascii.Error) as error:
        raise StateMismatch(f"ConfigMap {config_map['metadata']['name']} cannot be read") from error


def _pack(document: Mapping[str, object]) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    return gzip.compress(text, compresslevel=6, mtime=0)


def _unpack(content: bytes) -> Mapping[str, object]:
    try:
        inflater = zlib.decompressobj(wbits=31)
        text = inflater.decompress(content, MAX_DOCUMENT_BYTES)
        if not inflater.eof:
            raise StateMismatch(f"the saved state is larger than {MAX_DOCUMENT_BYTES} bytes")
        document = json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise StateMismatch(f"the saved state cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise StateMismatch("the saved state is not a JSON object")
    return document


def _is_owned_by(document: Document, uid: str) -> bool:
    owners: Any = document["metadata"].get("ownerReferences") or ()
    return any(owner.get("uid") == uid for owner in owners)


def _generation(label: str | None) -> int:
    return int(label) if label and label.isdecimal() and len(label) < 12 else 0


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
