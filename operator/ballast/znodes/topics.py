"""/brokers/topics/T, persistent: the replicas of each partition, and pending reassignments.

Version 3 has a topic id (Kafka 2.8), version 2 adding and removing replicas (2.4), version 1 only
the replicas. Fields that Ballast does not know are kept and written back.
"""

import base64
import binascii
from functools import lru_cache
from typing import Annotated, Any
from uuid import UUID

import msgspec

from ballast.model.assignments import ReplicaAssignment
from ballast.model.topics import InvalidTopicName, TopicAssignment, check_topic_name
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/brokers/topics"

_KNOWN = frozenset({"version", "partitions", "adding_replicas", "removing_replicas", "topic_id"})

_Replicas = Annotated[tuple[documents.BrokerId, ...], msgspec.Meta(max_length=10_000)]


class _Document(msgspec.Struct):
    version: Annotated[int, msgspec.Meta(ge=1, le=documents.INT32_MAX)]
    partitions: dict[documents.PartitionNumber, _Replicas]
    adding_replicas: dict[documents.PartitionNumber, _Replicas] = {}
    removing_replicas: dict[documents.PartitionNumber, _Replicas] = {}
    topic_id: str | None = None


@lru_cache(maxsize=10_000)
def path(topic: str) -> str:
    """Return the path of a topic; raises `InvalidTopicName` rather than name another znode."""
    check_topic_name(topic)
    return f"{PATH}/{topic}"


@lru_cache(maxsize=10_000)
def partitions_path(topic: str) -> str:
    """Return the path of the parent of a topic's partitions."""
    return f"{path(topic)}/partitions"


def is_topic_name(name: str) -> bool:
    """Whether a child of /brokers/topics or /admin/delete_topics can be a topic."""
    try:
        check_topic_name(name)
    except InvalidTopicName:
        return False
    return True


def topic_of(znode_path: str) -> str:
    """Return the topic that a path below /brokers/topics belongs to."""
    return znode_path.removeprefix(PATH + "/").split("/", 1)[0]


def encode(topic: TopicAssignment) -> bytes:
    """Return a topic's data: version 3 with a topic id, else version 2."""
    ordered = sorted(topic.partitions.items())
    document: dict[str, Any] = {"partitions": {str(p): a.replicas for p, a in ordered}}
    if topic.topic_id is not None:
        document["topic_id"] = encode_topic_id(topic.topic_id)
    document["adding_replicas"] = {
        str(p): a.adding_replicas for p, a in ordered if a.adding_replicas
    }
    document["removing_replicas"] = {
        str(p): a.removing_replicas for p, a in ordered if a.removing_replicas
    }
    document["version"] = 2 if topic.topic_id is None else 3
    document.update((k, v) for k, v in topic.extra.items() if k not in _KNOWN)
    return documents.write(document)


def decode(topic: str, data: bytes, version: int) -> TopicAssignment:
    """Return a topic as its znode, read at ``version``, describes it; raises `ZnodeError`."""
    at = f"{PATH}/{topic}"
    document = documents.read(at, data, _Document)
    fields = documents.read(at, data, dict[str, msgspec.Raw])
    for field, moving in (
        ("adding_replicas", document.adding_replicas),
        ("removing_replicas", document.removing_replicas),
    ):
        if left := moving.keys() - document.partitions.keys():
            raise ZnodeError(at, field, f"partition {min(left)} does not exist")
    return TopicAssignment(
        topic=topic,
        topic_id=None if document.topic_id is None else decode_topic_id(at, document.topic_id),
        partitions=_assignments(at, document),
        version=version,
        extra={k: documents.read(at, v, Any) for k, v in fields.items() if k not in _KNOWN},
    )


def encode_topic_id(topic_id: UUID) -> str:
    """Return a topic id as Kafka's `Uuid` writes it: base64url without padding, 22 characters."""
    return base64.urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def decode_topic_id(at: str, text: str) -> UUID:
    """Return a topic id from its text; raises `ZnodeError`."""
    try:
        raw = base64.b64decode(text.encode("ascii") + b"==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ZnodeError(at, "topic_id", f"{text[:40]!r} is not base64url") from error
    if len(text) != 22 or len(raw) != 16:
        raise ZnodeError(at, "topic_id", f"{text[:40]!r} is not 16 bytes in base64url")
    return UUID(bytes=raw)


def _assignments(at: str, document: _Document) -> dict[int, ReplicaAssignment]:
    """Return the assignments in order; partitions that have the same replicas share theirs."""
    adding, removing = document.adding_replicas, document.removing_replicas
    settled: dict[tuple[int, ...], ReplicaAssignment] = {}
    assignments: dict[int, ReplicaAssignment] = {}
    for number, replicas in sorted(document.partitions.items()):
        if number in adding or number in removing:
            assignments[number] = _assignment(
                at, number, replicas, adding.get(number, ()), removing.get(number, ())
            )
            continue
        if replicas not in settled:
            settled[replicas] = _assignment(at, number, replicas, (), ())
        assignments[number] = settled[replicas]
    return assignments


def _assignment(
    at: str,
    number: int,
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
) -> ReplicaAssignment:
    """Check the invariant of `ReplicaAssignment`: AR and RR are disjoint subsets of RS."""
    unique = set(replicas)
    if not replicas or len(unique) != len(replicas):
        raise ZnodeError(at, f"partitions.{number}", "replicas are empty or named twice")
    if not adding and not removing:
        return ReplicaAssignment(replicas=replicas)
    for field, brokers in (("adding_replicas", adding), ("removing_replicas", removing)):
        if not unique.issuperset(brokers) or len(set(brokers)) != len(brokers):
            raise ZnodeError(at, f"{field}.{number}", "not a subset of the replicas")
    if not set(adding).isdisjoint(removing):
        raise ZnodeError(at, f"adding_replicas.{number}", "a replica is both added and removed")
    return ReplicaAssignment(replicas=replicas, adding_replicas=adding, removing_replicas=removing)
