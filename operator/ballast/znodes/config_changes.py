"""/config/changes/config_change_N, persistent and sequential: an entity's config was written.

Version 2 ``{"version":2,"entity_path":"topics/t"}``; version 1 ``{"version":1,
"entity_type":"topics","entity_name":"t"}`` is read too. Brokers read the entity again, and delete
notifications older than 15 minutes (`ZkNodeChangeNotificationListener`).
"""

import re

import msgspec

from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/config/changes"
PREFIX = f"{PATH}/config_change_"
RETENTION_MS = 15 * 60 * 1000

_SEQUENCE = re.compile(r"config_change_([0-9]{10})")
_ENTITY = re.compile(r"(topics|clients|users|brokers|ips)/[^/\x00]+(/clients/[^/\x00]+)?")


class _Document(msgspec.Struct):
    version: documents.Epoch
    entity_path: str | None = None
    entity_type: str | None = None
    entity_name: str | None = None


def path(name: str) -> str:
    """Return the path of one notification."""
    return f"{PATH}/{name}"


def sequence_of(name: str) -> int | None:
    """Return the sequence number of a notification, None for another child."""
    match = _SEQUENCE.fullmatch(name)
    return int(match[1]) if match else None


def encode(entity: str) -> bytes:
    """Return the data of a notification."""
    return documents.write({"version": 2, "entity_path": entity})


def decode(name: str, data: bytes) -> str:
    """Return the entity path that changed, for example ``topics/t``; raises `ZnodeError`."""
    document = documents.read(path(name), data, _Document)
    if document.version == 1:
        entity = f"{document.entity_type or ''}/{document.entity_name or ''}"
    else:
        entity = document.entity_path or ""
    if len(entity) > 1000 or not _ENTITY.fullmatch(entity):
        raise ZnodeError(path(name), "entity_path", f"{entity[:100]!r} is not an entity")
    return entity
