"""A PartitionReassignment manifest, from a decoded document to a checked value.

The schema is that of the custom resource: ``ballast.dev/v1alpha1``, unknown fields refused. For
the command line a plan may also name a file with Kafka's reassignment JSON (``plan.file``).
"""

import re
from dataclasses import dataclass

from ballast.model.fields import MAX_INT, Errors, FieldError, Reader, join, show, type_name
from ballast.model.ids import TopicPartition
from ballast.model.topics import InvalidTopicName, check_topic_name
from ballast.reassign.errors import ManifestRejected, ReassignmentFileRejected
from ballast.reassign.kafka_json import (
    ANY_LOG_DIR,
    ProposedPartition,
    check_executable,
    parse_reassignment_json,
)
from ballast.reassign.spec import (
    Approval,
    ApprovalPolicy,
    Assignments,
    DesiredState,
    Execution,
    OnStalled,
    ReassignmentSpec,
    Settings,
    WhenUnderMinIsr,
)

API_VERSION = "ballast.dev/v1alpha1"
KIND = "PartitionReassignment"
MAX_INLINE_ASSIGNMENTS = 500
MAX_FILE_ASSIGNMENTS = 200_000
MAX_REPLICAS = 32
MIN_THROTTLE_BYTES_PER_SECOND = 1024
_PLAN = "spec.plan"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_DELETION_POLICIES = ("Cancel", "RollBack", "Orphan")
_NOT_AVAILABLE = {
    "generate": "is not available yet: give the plan as assignments or as a file",
    "configMapRef": "needs Kubernetes: give the plan as assignments or as a file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFile:
    """A plan in another file: Kafka's JSON."""

    path: str
    """As written: relative to the manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest that is well formed; whether the cluster can do it is seen later."""

    name: str
    settings: Settings
    plan: Assignments | PlanFile

    def spec(self, assignments: Assignments, generation: int) -> ReassignmentSpec:
        """Return the spec once the plan's assignments are at hand."""
        return ReassignmentSpec(
            name=self.name,
            generation=generation,
            assignments=assignments,
            settings=self.settings,
        )


def parse_manifest(document: object) -> Manifest:
    """Return the manifest in a decoded YAML or JSON document.

    Raises `ManifestRejected` with every error found (at most 50).
    """
    errors = Errors()
    root = Reader(document, "", errors, ("apiVersion", "kind", "metadata", "spec", "status"))
    _expect(root, "apiVersion", API_VERSION)
    _expect(root, "kind", KIND)
    name = _read_name(root)
    spec = _nested_required(
        root,
        "spec",
        (
            "brokerSetRef",
            "plan",
            "approval",
            "desiredState",
            "execution",
            "verification",
            "deletionPolicy",
            "ttlSecondsAfterFinished",
        ),
    )
    settings = _read_settings(spec)
    plan = _read_plan(spec)
    if errors.found or plan is None:
        raise ManifestRejected(errors.found)
    return Manifest(name=name, settings=settings, plan=plan)


def read_plan_file(text: str) -> Assignments:
    """Return the assignments in Kafka's reassignment JSON, named by ``spec.plan.file``.

    Raises `ManifestRejected`.
    """
    path = f"{_PLAN}.file"
    try:
        proposed = parse_reassignment_json(text)
        targets = check_executable(proposed)
    except ReassignmentFileRejected as error:
        raise ManifestRejected([FieldError(path=path, reason=str(error))]) from error
    errors = Errors()
    if len(proposed) > MAX_FILE_ASSIGNMENTS:
        errors.add(path, f"must have at most {MAX_FILE_ASSIGNMENTS} partitions")
    paths = {}
    for index, entry in enumerate(proposed):
        paths[entry.topic_partition] = f"{path}: partitions[{index}]"
        _check_proposed(entry, paths[entry.topic_partition], errors)
        if errors.is_full:
            break
    if errors.found:
        raise ManifestRejected(errors.found)
    return Assignments(targets=targets, paths=paths)


def _expect(root: Reader, name: str, wanted: str) -> None:
    value = root.raw(name)
    if value != wanted:
        root.refuse(name, f"must be {wanted}" if root.has(name) else f"is required: {wanted}")


def _nested_required(reader: Reader, name: str, known: tuple[str, ...]) -> Reader:
    if not reader.has(name):
        reader.refuse(name, "is required")
    return reader.nested(name, known)


def _read_name(root: Reader) -> str:
    metadata = _nested_required(
        root, "metadata", ("name", "namespace", "labels", "annotations", "generation", "uid")
    )
    name = metadata.string("name", required=root.has("metadata"))
    if name is not None and not _NAME.fullmatch(name):
        metadata.refuse("name", "must be lower case letters, digits, '-' and '.'")
        return ""
    return name or ""


def _read_settings(spec: Reader) -> Settings:
    _check_kubernetes_fields(spec)
    verification = spec.nested("verification", ("electPreferredLeaders",))
    return Settings(
        approval=_read_approval(spec),
        desired_state=spec.choice("desiredState", DesiredState.RUNNING),
        execution=_read_execution(spec),
        elect_preferred_leaders=verification.boolean("electPreferredLeaders", default=True),
    )


def _check_kubernetes_fields(spec: Reader) -> None:
    """Check what matters on Kubernetes only: one manifest serves there and here."""
    if spec.has("brokerSetRef"):
        spec.nested("brokerSetRef", ("name",)).string("name", required=True)
    if spec.has("deletionPolicy") and spec.raw("deletionPolicy") not in _DELETION_POLICIES:
        spec.refuse("deletionPolicy", f"must be one of {', '.join(_DELETION_POLICIES)}")
    spec.integer("ttlSecondsAfterFinished", 0)


def _read_approval(spec: Reader) -> Approval:
    approval = spec.nested("approval", ("policy", "planDigest", "limits"))
    digest = approval.string("planDigest") if approval.has("planDigest") else None
    if digest is not None and not _DIGEST.fullmatch(digest):
        approval.refuse("planDigest", "must be sha256: and 64 lower case hexadecimal digits")
    limits = approval.nested("limits", ("maxBytesToMove", "maxReplicaMoves"))
    return Approval(
        policy=approval.choice("policy", ApprovalPolicy.AUTOMATIC),
        plan_digest=digest,
        max_bytes_to_move=limits.quantity("maxBytesToMove", minimum=0),
        max_replica_moves=(
            limits.integer("maxReplicaMoves", 0) if limits.has("maxReplicaMoves") else None
        ),
    )


def _read_execution(spec: Reader) -> Execution:
    execution = spec.nested(
        "execution",
        (
            "maxConcurrentMovesPerBroker",
            "maxConcurrentMoves",
            "maxConcurrentLeaderChanges",
            "batchSize",
            "order",
            "throttle",
            "whenUnderMinISR",
            "progressDeadlineSeconds",
            "onStalled",
        ),
    )
    defaults = Execution()
    rate = None
    if execution.has("throttle"):
        throttle = execution.nested("throttle", ("rate",))
        rate = throttle.quantity("rate", minimum=MIN_THROTTLE_BYTES_PER_SECOND)
        if not throttle.has("rate"):
            throttle.refuse("rate", "is required")
    return Execution(
        max_concurrent_moves_per_broker=execution.integer(
            "maxConcurrentMovesPerBroker", defaults.max_concurrent_moves_per_broker, minimum=1
        ),
        max_concurrent_moves=execution.integer(
            "maxConcurrentMoves", defaults.max_concurrent_moves, minimum=1
        ),
        max_concurrent_leader_changes=execution.integer(
            "maxConcurrentLeaderChanges", defaults.max_concurrent_leader_changes, minimum=1
        ),
        batch_size=execution.integer("batchSize", defaults.batch_size, minimum=1, maximum=10_000),
        order=execution.choices("order", defaults.order),
        throttle_bytes_per_second=rate,
        when_under_min_isr=execution.choice("whenUnderMinISR", WhenUnderMinIsr.PAUSE),
        progress_deadline_seconds=execution.integer(
            "progressDeadlineSeconds", defaults.progress_deadline_seconds, minimum=1
        ),
        on_stalled=execution.choice("onStalled", OnStalled.PAUSE),
    )


def _read_plan(spec: Reader) -> Assignments | PlanFile | None:
    members = ("assignments", "file", *_NOT_AVAILABLE)
    plan = _nested_required(spec, "plan", members)
    given = [member for member in members if plan.has(member)]
    if spec.has("plan") and len(given) != 1:
        spec.refuse("plan", f"must have exactly one of {', '.join(members)}")
        return None
    for member in given:
        if member in _NOT_AVAILABLE:
            plan.refuse(member, _NOT_AVAILABLE[member])
    if plan.has("file"):
        path = plan.string("file", max_length=4096, required=True)
        return None if path is None else PlanFile(path=path)
    return _read_assignments(plan) if plan.has("assignments") else None


def _read_assignments(plan: Reader) -> Assignments:
    targets: dict[TopicPartition, tuple[int, ...]] = {}
    paths: dict[TopicPartition, str] = {}
    items = plan.sequence("assignments", min_items=1, max_items=MAX_INLINE_ASSIGNMENTS)
    for index, item in enumerate(items):
        path = f"{plan.path}.assignments[{index}]"
        entry = Reader(item, path, plan.errors, ("topic", "partition", "replicas", "logDirs"))
        read = _read_assignment(entry)
        if read is None:
            continue
        tp, replicas = read
        if tp in targets:
            plan.errors.add(path, f"partition {tp} is already in {paths[tp]}")
            continue
        targets[tp], paths[tp] = replicas, path
    return Assignments(targets=targets, paths=paths)


def _read_assignment(entry: Reader) -> tuple[TopicPartition, tuple[int, ...]] | None:
    topic = entry.string("topic", max_length=MAX_INT, required=True)
    if topic is not None:
        _check_topic(topic, join(entry.path, "topic"), entry.errors)
    if not entry.has("partition"):
        entry.refuse("partition", "is required")
    partition = entry.integer("partition", 0)
    replicas = entry.sequence("replicas", min_items=1, max_items=MAX_REPLICAS)
    good = _check_replicas(replicas, join(entry.path, "replicas"), entry.errors)
    if entry.has("logDirs"):
        _check_log_dirs(entry.sequence("logDirs", max_items=MAX_REPLICAS), len(replicas), entry)
    return None if topic is None or not good else (TopicPartition(topic, partition), good)


def _check_topic(topic: str, path: str, errors: Errors) -> None:
    try:
        check_topic_name(topic)
    except InvalidTopicName as error:
        errors.add(path, show(str(error)) if len(topic) < 30 else "is not a legal topic name")


def _check_replicas(replicas: object, path: str, errors: Errors) -> tuple[int, ...]:
    seen: list[int] = []
    for index, replica in enumerate(replicas if isinstance(replicas, list | tuple) else ()):
        where = f"{path}[{index}]"
        if isinstance(replica, bool) or not isinstance(replica, int):
            errors.add(where, f"must be a broker id, not {type_name(replica)}")
        elif not 0 <= replica <= MAX_INT:
            errors.add(where, f"must be between 0 and {MAX_INT}")
        elif replica in seen:
            errors.add(where, f"broker {replica} is already in the list")
        else:
            seen.append(replica)
    return tuple(seen)


def _check_log_dirs(log_dirs: object, replica_count: int, entry: Reader) -> None:
    given = log_dirs if isinstance(log_dirs, list | tuple) else ()
    if len(given) != replica_count:
        entry.refuse("logDirs", f"must have as many items as replicas: {replica_count}")
    for index, log_dir in enumerate(given):
        if log_dir != ANY_LOG_DIR:
            entry.refuse(
                f"logDirs[{index}]", "log directories other than any are not available yet"
            )


def _check_proposed(entry: ProposedPartition, path: str, errors: Errors) -> None:
    _check_topic(entry.topic_partition.topic, f"{path}.topic", errors)
    if entry.topic_partition.partition < 0:
        errors.add(f"{path}.partition", "must not be negative")
    if len(entry.replicas) > MAX_REPLICAS:
        errors.add(f"{path}.replicas", f"must have at most {MAX_REPLICAS} items")
    _check_replicas(entry.replicas, f"{path}.replicas", errors)
    if any(log_dir != ANY_LOG_DIR for log_dir in entry.log_dirs):
        errors.add(f"{path}.log_dirs", "log directories other than any are not available yet")
