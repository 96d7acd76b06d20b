"""Kafka's reassignment JSON, read and written as kafka-reassign-partitions 2.8 does.

``{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1],"log_dirs":["any"]}]}``
Messages are those of ReassignPartitionsCommand (KIP-455, KAFKA-8820): scripts match them.
"""

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Never

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ReassignmentFileRejected

ANY_LOG_DIR = "any"
_MAX_ID = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedPartition:
    """One entry of the file, unchanged."""

    topic_partition: TopicPartition
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...]


def parse_reassignment_json(text: str) -> tuple[ProposedPartition, ...]:
    """Return the entries in the file's order, duplicates included: `check_executable` refuses them.

    Raises `ReassignmentFileRejected`.
    """
    document = _read_document(text)
    return tuple(_read_partition(entry) for entry in _entries("partitions", document))


def parse_topics_json(text: str) -> tuple[str, ...]:
    """Return the topics of ``{"topics":[{"topic":"t"}],"version":1}``, in the file's order.

    Raises `ReassignmentFileRejected`.
    """
    topics = []
    for entry in _entries("topics", _read_document(text)):
        if not isinstance(entry, dict) or "topic" not in entry:
            raise ReassignmentFileRejected("No such field exists: `topic`")
        if not isinstance(entry["topic"], str):
            raise ReassignmentFileRejected("Expected `topic` to be a string")
        topics.append(entry["topic"])
    return tuple(topics)


def check_executable(
    proposed: Iterable[ProposedPartition],
) -> dict[TopicPartition, tuple[int, ...]]:
    """Return the targets of a file that may be executed, checked in the tool's order.

    Raises `ReassignmentFileRejected` with the tool's message.
    """
    entries = tuple(proposed)
    if not entries:
        raise ReassignmentFileRejected("Partition reassignment list cannot be empty")
    if any(not entry.replicas for entry in entries):
        raise ReassignmentFileRejected("Partition replica list cannot be empty")
    doubles = duplicates(entry.topic_partition for entry in entries)
    if doubles:
        raise ReassignmentFileRejected(
            f"Partition reassignment contains duplicate topic partitions: {doubles}"
        )
    doubled_replicas = [
        f"{entry.topic_partition} contains multiple entries for {duplicates(entry.replicas)}"
        for entry in entries
        if len(set(entry.replicas)) != len(entry.replicas)
    ]
    if doubled_replicas:
        raise ReassignmentFileRejected(
            "Partition replica lists may not contain duplicate entries: "
            + ". ".join(doubled_replicas)
        )
    return {entry.topic_partition: entry.replicas for entry in entries}


def format_reassignment_json(assignments: Mapping[TopicPartition, tuple[int, ...]]) -> str:
    """Return the tool's compact JSON, ordered by topic and partition, every log dir ``any``."""
    return "".join(reassignment_json((tp, assignments[tp], {}) for tp in sorted(assignments)))


def reassignment_json(
    assignments: Iterable[tuple[TopicPartition, tuple[int, ...], Mapping[int, str]]],
) -> Iterator[str]:
    """Yield the same JSON in pieces, one for each partition, in the given order.

    Each partition comes with its named log directories by broker.
    """
    before = '{"version":1,"partitions":['
    for tp, replicas, log_dirs in assignments:
        entry = {
            "topic": tp.topic,
            "partition": tp.partition,
            "replicas": replicas,
            "log_dirs": [log_dirs.get(broker, ANY_LOG_DIR) for broker in replicas],
        }
        yield before + json.dumps(entry, separators=(",", ":"))
        before = ","
    yield "]}" if before == "," else before + "]}"


def _read_document(text: str) -> Mapping[str, object]:
    """Return the object of a file of version 1, the default."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ReassignmentFileRejected(f"The input string is not a valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise ReassignmentFileRejected("Expected a JSON object")
    version = document.get("version", 1)
    if version != 1 or isinstance(version, bool):
        raise ReassignmentFileRejected(f"Not supported version field value {version!s:.20}")
    return document


def _entries(name: str, document: Mapping[str, object]) -> list[object]:
    entries = document.get(name, [])
    if not isinstance(entries, list):
        raise ReassignmentFileRejected(f"Expected `{name}` to be a JSON array")
    return entries


def _read_partition(entry: object) -> ProposedPartition:
    if not isinstance(entry, dict):
        raise ReassignmentFileRejected("Expected each entry of `partitions` to be a JSON object")
    for name in ("topic", "partition", "replicas"):
        if name not in entry:
            raise ReassignmentFileRejected(f"No such field exists: `{name}`")
    topic = entry["topic"]
    if not isinstance(topic, str):
        raise ReassignmentFileRejected("Expected `topic` to be a string")
    partition = _read_id("partition", entry["partition"])
    replicas = tuple(_read_id("replicas", replica) for replica in _list("replicas", entry))
    log_dirs = _read_log_dirs(entry, len(replicas))
    if len(log_dirs) != len(replicas):
        raise ReassignmentFileRejected(
            f"Size of replicas list {_scala_list(replicas)} is different from size of log dirs "
            f"list {_scala_list(log_dirs)} for partition {TopicPartition(topic, partition)}"
        )
    return ProposedPartition(
        topic_partition=TopicPartition(topic, partition), replicas=replicas, log_dirs=log_dirs
    )


def _read_log_dirs(entry: Mapping[str, object], replica_count: int) -> tuple[str, ...]:
    if "log_dirs" not in entry:
        return (ANY_LOG_DIR,) * replica_count
    log_dirs = []
    for log_dir in _list("log_dirs", entry):
        if not isinstance(log_dir, str):
            raise ReassignmentFileRejected("Expected `log_dirs` to hold strings")
        log_dirs.append(log_dir)
    return tuple(log_dirs)


def _list(name: str, entry: Mapping[str, object]) -> list[object]:
    value = entry[name]
    if not isinstance(value, list):
        raise ReassignmentFileRejected(f"Expected `{name}` to be a JSON array")
    return value


def _read_id(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MAX_ID:
        raise ReassignmentFileRejected(f"Expected `{name}` to hold 32-bit integers")
    return value


def duplicates(values: Iterable[Hashable]) -> str:
    """Return the values that occur more than once, comma-joined as the tool does."""
    return ",".join(str(value) for value, count in Counter(values).items() if count > 1)


def _scala_list(values: Iterable[object]) -> str:
    return f"List({', '.join(str(value) for value in values)})"


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")
