"""The steps of a decision. Each can be repeated; one that fails is decided again."""

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
    """Delete an object of the set that its spec no longer asks for."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResizeVolume:
    """Raise the request of a PersistentVolumeClaim; the storage class may refuse."""

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
    """Delete a stuck pod, so that the StatefulSet creates it from the new template."""

    name: str
    uid: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterBrokerConfigs:
    """Change the dynamic configs of all brokers (entity-default); None deletes one."""

    changes: Mapping[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateReassignment:
    """Plan and create a reassignment that belongs to the set.

    Drain: every replica on ``broker_ids`` moves to live brokers that are not in ``excluded``.
    Rebalance: ``broker_ids`` get their share of replicas, after an approval.
    """

    name: str
    purpose: Purpose
    broker_ids: tuple[int, ...]
    excluded: frozenset[int]
    """Cordoned brokers: never a target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawReassignment:
    """Annotate a reassignment as withdrawn and cancel it by ``desiredState``, in one patch."""

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
    """The steps to take now, in this order, and the status."""

    steps: Sequence[Step]
    status: Mapping[str, Any]
    """``status`` as JSON."""
    requeue_after_s: float
    """Seconds until the next reconciliation at the latest."""
    idle_requeue_after_s: float = 0.0
    """The same, if none of the steps could be taken."""
