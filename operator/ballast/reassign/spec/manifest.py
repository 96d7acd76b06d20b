"""Parses a PartitionReassignment manifest: a decoded document becomes a checked value.

The schema is that of the custom resource, ``ballast.dev/v1alpha1``; unknown fields are refused. The
same manifest works on Kubernetes and on the command line; each refuses plan sources that it cannot
read.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ballast.model.fields import Errors, Reader
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.spec.plan_manifest import PlanSource, read_plan
from ballast.reassign.spec.spec import (
    Approval,
    ApprovalPolicy,
    Assignments,
    DeletionPolicy,
    DesiredState,
    Execution,
    OnStalled,
    ReassignmentSpec,
    Settings,
    WhenUnderMinIsr,
)

API_VERSION = "ballast.dev/v1alpha1"
KIND = "PartitionReassignment"
MIN_THROTTLE_BYTES_PER_SECOND = 1024
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A well-formed manifest; it is compared with the cluster later."""

    name: str
    settings: Settings
    plan: PlanSource
    broker_set: str | None = None
    """``spec.brokerSetRef.name``: whose partitions move; not needed on the command line."""

    def spec(self, assignments: Assignments, generation: int) -> ReassignmentSpec:
        """Return the spec with the plan's assignments."""
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
    broker_set = spec.nested("brokerSetRef", ("name",)).string(
        "name", required=spec.has("brokerSetRef")
    )
    plan = read_plan(spec)
    if errors.found or plan is None:
        raise ManifestRejected(errors.found)
    return Manifest(name=name, settings=settings, plan=plan, broker_set=broker_set)


def _expect(root: Reader, name: str, expected: str) -> None:
    value = root.raw(name)
    if value != expected:
        root.refuse(name, f"must be {expected}" if root.has(name) else f"is required: {expected}")


def _nested_required(reader: Reader, name: str, fields: tuple[str, ...]) -> Reader:
    if not reader.has(name):
        reader.refuse(name, "is required")
    return reader.nested(name, fields)


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
    spec.integer("ttlSecondsAfterFinished", 0)
    verification = spec.nested("verification", ("electPreferredLeaders",))
    return Settings(
        approval=_read_approval(spec),
        desired_state=spec.choice("desiredState", DesiredState.RUNNING),
        execution=_read_execution(spec),
        elect_preferred_leaders=verification.boolean("electPreferredLeaders", default=True),
        deletion_policy=spec.choice("deletionPolicy", DeletionPolicy.CANCEL),
    )


def _read_approval(spec: Reader) -> Approval:
    """Read the approval; a generated plan needs a manual one by default."""
    plan = spec.raw("plan")
    is_made = isinstance(plan, Mapping) and "generate" in plan
    default = ApprovalPolicy.MANUAL if is_made else ApprovalPolicy.AUTOMATIC
    approval = spec.nested("approval", ("policy", "planDigest", "limits"))
    digest = approval.string("planDigest") if approval.has("planDigest") else None
    if digest is not None and not _DIGEST.fullmatch(digest):
        approval.refuse("planDigest", "must be sha256: and 64 lower case hexadecimal digits")
    limits = approval.nested("limits", ("maxBytesToMove", "maxReplicaMoves"))
    return Approval(
        policy=approval.choice("policy", default),
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
