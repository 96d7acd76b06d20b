"""What a decision can ask for. Every step may be done twice, and may fail: it is decided again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ballast.brokersets.names import GATE
from ballast.brokersets.observation.observation import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply:
    """Server-side apply one object; its kind and name are in the document."""

    document: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The object's kind."""
        return str(self.document["kind"])

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.document["metadata"]["name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete an object of the set that its spec does not ask for any more."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResizeVolume:
    """Let a PersistentVolumeClaim request more; the storage class may refuse."""

    name: str
    size: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchGate:
    """Set the condition `ballast.dev/in-sync` of a pod, if it is still the pod of this uid."""

    pod: str
    uid: str
    value: bool
    reason: str
    message: str

    def to_document(self, transition_time: str) -> dict[str, str]:
        """Return the pod's condition; ``transition_time`` is RFC 3339."""
        return {
            "type": GATE,
            "status": "True" if self.value else "False",
            "reason": self.reason,
            "message": self.message,
            "lastTransitionTime": transition_time,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletePod:
    """Delete a pod that is stuck, so that the StatefulSet makes it anew from its new template."""

    name: str
    uid: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterBrokerConfigs:
    """Change configs of all brokers at once (entity-default); None takes one back."""

    changes: Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateReassignment:
    """Plan and create a reassignment of the set's own.

    Drain: every replica on ``broker_ids`` goes to live brokers that are not in ``excluded``.
    Rebalance: ``broker_ids`` get their share; it waits for approval.
    """

    name: str
    purpose: Purpose
    broker_ids: tuple[int, ...]
    excluded: frozenset[int]
    """Cordoned brokers: never a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawReassignment:
    """Annotate a reassignment as withdrawn and set its ``desiredState`` to Cancelled, in one."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReassignment:
    """Delete a reassignment of the set that has ended."""

    name: str


Step = (
    Apply
    | Delete
    | ResizeVolume
    | PatchGate
    | DeletePod
    | AlterBrokerConfigs
    | CreateReassignment
    | WithdrawReassignment
    | DeleteReassignment
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, in this order, and what to report."""

    steps: Sequence[Step]
    status: Mapping[str, Any]
    """``status`` as JSON."""
    requeue_after_s: float
    """Look again at the latest after so long."""
    idle_requeue_after_s: float = 0.0
    """The same, when none of the steps could be taken."""
