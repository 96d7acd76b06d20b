"""Parses ``spec.plan`` of a manifest: the assignments themselves, or a reference to them.

Topic names, broker ids and duplicate partitions are checked. The caller fetches a referenced file
or ConfigMap, and its content is parsed here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ballast.model.fields import MAX_INT, Errors, FieldError, Reader, join, show, type_name
from ballast.model.ids import TopicPartition
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import ManifestRejected, ReassignmentFileRejected
from ballast.reassign.generate.generate_manifest import PlanToGenerate, read_generate
from ballast.reassign.plan.kafka_json import (
    ANY_LOG_DIR,
    ProposedPartition,
    check_executable,
    parse_reassignment_json,
)
from ballast.reassign.plan.lines import MAX_LOG_DIR, LogDirMove, LogDirMoves
from ballast.reassign.spec.spec import Assignments

MAX_INLINE_ASSIGNMENTS = 500
MAX_FILE_ASSIGNMENTS = 200_000
MAX_REPLICAS = 32
MAX_LOG_DIRS_TEXT = 300
"""Characters of all log directories of one partition: a line of a plan must hold them."""
_PLAN = "spec.plan"
_MEMBERS = ("assignments", "file", "configMapRef", "generate")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """A plan in another file: Kafka's JSON."""

    path: str
    """As written; relative to the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanConfigMap:
    """A plan in ConfigMaps: Kafka's JSON, or ``ballast-plan/v1`` chunks and their index."""

    name: str
    key: str | None = None
    """Key in the ConfigMap; None = its only entry."""


PlanSource = Assignments | PlanFile | PlanConfigMap | PlanToGenerate


def read_plan(spec: Reader) -> PlanSource | None:
    """Return the source of the plan, or None after noting errors."""
    if not spec.has("plan"):
        spec.refuse("plan", "is required")
    plan = spec.nested("plan", _MEMBERS)
    members = [member for member in _MEMBERS if plan.has(member)]
    if len(members) != 1:
        if spec.has("plan"):
            spec.refuse("plan", f"must have exactly one of {', '.join(_MEMBERS)}")
        return None
    match members[0]:
        case "file":
            path = plan.string("file", max_length=4096, required=True)
            return None if path is None else PlanFile(path=path)
        case "configMapRef":
            return _read_config_map_ref(plan)
        case "generate":
            return read_generate(plan)
        case _:
            return _read_assignments(plan)


def _read_config_map_ref(plan: Reader) -> PlanConfigMap | None:
    reference = plan.nested("configMapRef", ("name", "key"))
    name = reference.string("name", required=True)
    key = reference.string("key")
    return None if name is None else PlanConfigMap(name=name, key=key)


def read_kafka_plan(text: str, path: str = f"{_PLAN}.file") -> Assignments:
    """Return the assignments in Kafka's reassignment JSON, which ``path`` of the manifest names.

    Raises `ManifestRejected`.
    """
    try:
        proposed = parse_reassignment_json(text)
        targets = check_executable(proposed)
    except ReassignmentFileRejected as error:
        raise ManifestRejected([FieldError(path=path, reason=str(error))]) from error
    errors = Errors()
    log_dirs = {}
    if len(proposed) > MAX_FILE_ASSIGNMENTS:
        errors.add(path, f"must have at most {MAX_FILE_ASSIGNMENTS} partitions")
    paths = {}
    for index, entry in enumerate(proposed):
        paths[entry.topic_partition] = f"{path}: partitions[{index}]"
        entry_dirs = _check_proposed(entry, paths[entry.topic_partition], errors)
        if entry_dirs:
            log_dirs[entry.topic_partition] = entry_dirs
        if errors.is_full:
            break
    if errors.found:
        raise ManifestRejected(errors.found)
    return Assignments(targets=targets, paths=paths, log_dirs=log_dirs)


def _read_assignments(plan: Reader) -> Assignments:
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    paths: dict[TopicPartition, str] = {}
    log_dirs: dict[TopicPartition, LogDirMoves] = {}
    items = plan.sequence("assignments", min_items=1, max_items=MAX_INLINE_ASSIGNMENTS)
    for index, item in enumerate(items):
        path = f"{plan.path}.assignments[{index}]"
        entry = Reader(item, path, plan.errors, ("topic", "partition", "replicas", "logDirs"))
        assignment = _read_assignment(entry)
        if assignment is None:
            continue
        tp, replicas, entry_dirs = assignment
        if tp in targets:
            plan.errors.add(path, f"partition {tp} is already in {paths[tp]}")
            continue
        targets[tp], paths[tp] = replicas, path
        if entry_dirs:
            log_dirs[tp] = entry_dirs
    return Assignments(targets=targets, paths=paths, log_dirs=log_dirs)


def _read_assignment(
    entry: Reader,
) -> tuple[TopicPartition, tuple[int, ...], LogDirMoves] | None:
    topic = entry.string("topic", max_length=MAX_INT, required=True)
    if topic is not None:
        _check_topic(topic, join(entry.path, "topic"), entry.errors)
    if not entry.has("partition"):
        entry.refuse("partition", "is required")
    partition = entry.integer("partition", 0)
    replicas = entry.sequence("replicas", min_items=1, max_items=MAX_REPLICAS)
    replica_ids = _check_replicas(replicas, join(entry.path, "replicas"), entry.errors)
    log_dirs: Sequence[object] = ()
    if entry.has("logDirs"):
        log_dirs = entry.sequence("logDirs", max_items=MAX_REPLICAS)
        if len(log_dirs) != len(replicas):
            entry.refuse("logDirs", f"must have as many items as replicas: {len(replicas)}")
    entry_dirs = _named_log_dirs(replica_ids, log_dirs, join(entry.path, "logDirs"), entry.errors)
    return (
        None
        if topic is None or not replica_ids
        else (TopicPartition(topic, partition), replica_ids, entry_dirs)
    )


def _check_topic(topic: str, path: str, errors: Errors) -> None:
    try:
        check_topic_name(topic)
    except InvalidTopicName as error:
        errors.add(path, show(str(error)) if len(topic) < 30 else "is not a legal topic name")


def _check_replicas(replicas: object, path: str, errors: Errors) -> tuple[int, ...]:
    replica_ids: list[int] = []
    for index, replica in enumerate(replicas if isinstance(replicas, list | tuple) else ()):
        where = f"{path}[{index}]"
        if isinstance(replica, bool) or not isinstance(replica, int):
            errors.add(where, f"must be a broker id, not {type_name(replica)}")
        elif not 0 <= replica <= MAX_INT:
            errors.add(where, f"must be between 0 and {MAX_INT}")
        elif replica in replica_ids:
            errors.add(where, f"broker {replica} is already in the list")
        else:
            replica_ids.append(replica)
    return tuple(replica_ids)


def _named_log_dirs(
    replicas: Iterable[int], log_dirs: Iterable[object], path: str, errors: Errors
) -> LogDirMoves:
    """Return the named directories of replicas, by broker; the current ones are not stated."""
    path_by_broker: dict[int, str] = {}
    for index, (broker, log_dir) in enumerate(zip(replicas, log_dirs, strict=False)):
        if not isinstance(log_dir, str):
            errors.add(f"{path}[{index}]", f"must be a path, not {type_name(log_dir)}")
        elif log_dir != ANY_LOG_DIR and not (log_dir.startswith("/") and log_dir.isprintable()):
            errors.add(f"{path}[{index}]", f"must be an absolute path, or {ANY_LOG_DIR}")
        elif log_dir != ANY_LOG_DIR:
            path_by_broker[broker] = log_dir
    if sum(map(len, path_by_broker.values())) > MAX_LOG_DIRS_TEXT or any(
        len(log_dir) > MAX_LOG_DIR for log_dir in path_by_broker.values()
    ):
        errors.add(path, f"must have at most {MAX_LOG_DIRS_TEXT} characters, {MAX_LOG_DIR} each")
        return ()
    return tuple(
        LogDirMove(broker, None, path_by_broker[broker]) for broker in sorted(path_by_broker)
    )


def _check_proposed(entry: ProposedPartition, path: str, errors: Errors) -> LogDirMoves:
    """Check one entry; return its named log directories."""
    _check_topic(entry.topic_partition.topic, f"{path}.topic", errors)
    if entry.topic_partition.partition < 0:
        errors.add(f"{path}.partition", "must not be negative")
    if len(entry.replicas) > MAX_REPLICAS:
        errors.add(f"{path}.replicas", f"must have at most {MAX_REPLICAS} items")
    _check_replicas(entry.replicas, f"{path}.replicas", errors)
    return _named_log_dirs(entry.replicas, entry.log_dirs, f"{path}.log_dirs", errors)
