"""A PartitionReassignment as read from the API server; fields may be missing or malformed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ballast.kube.api.resources import PARTITION_REASSIGNMENTS, Document, ObjectKey
from ballast.model.conditions import Condition
from ballast.reassign.state.conditions import (
    FINAL_STATUS,
    ConditionType,
    LifecycleState,
    conditions_from_documents,
)
from ballast.reassign.state.queueing import Purpose, QueueEntry

CLEANUP_FINALIZER: Final = "ballast.dev/cleanup"
"""On the object from before the first change to a cluster until everything is undone."""
PURPOSE_LABEL: Final = "ballast.dev/purpose"
DRAIN: Final = "drain"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReassignmentObject:
    """The document and what is asked of it again and again."""

    document: Document

    @property
    def namespace(self) -> str:
        """``metadata.namespace``."""
        return str(self.document["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.document["metadata"]["name"])

    @property
    def uid(self) -> str:
        """``metadata.uid``: differs from that of an earlier object of the same name."""
        return str(self.document["metadata"]["uid"])

    @property
    def key(self) -> ObjectKey:
        """Its name among all objects."""
        return ObjectKey(PARTITION_REASSIGNMENTS.plural, self.namespace, self.name)

    @property
    def generation(self) -> int:
        """``metadata.generation``: grows with each edit of the spec."""
        return int(self.document["metadata"].get("generation", 1))

    @property
    def finalizers(self) -> list[str]:
        """``metadata.finalizers``."""
        return list(self.document["metadata"].get("finalizers") or ())

    @property
    def has_finalizer(self) -> bool:
        """Whether it is not let go before we have cleaned up."""
        return CLEANUP_FINALIZER in self.finalizers

    @property
    def deletion_time_ms(self) -> int | None:
        """When its deletion was asked for; None = it was not."""
        return milliseconds(self.document["metadata"].get("deletionTimestamp"))

    @property
    def is_deleted(self) -> bool:
        """Whether its deletion was asked for."""
        return "deletionTimestamp" in self.document["metadata"]

    @property
    def spec(self) -> Mapping[str, Any]:
        """``spec``, or nothing."""
        return _mapping(self.document.get("spec"))

    @property
    def status(self) -> Mapping[str, Any]:
        """``status``, or nothing."""
        return _mapping(self.document.get("status"))

    @property
    def broker_set(self) -> str:
        """``spec.brokerSetRef.name``, or an empty string."""
        return str(_mapping(self.spec.get("brokerSetRef")).get("name", ""))

    @property
    def conditions(self) -> dict[ConditionType, Condition]:
        """``status.conditions``; those that cannot be read are left out."""
        return conditions_from_documents(self.status.get("conditions"))

    @property
    def state(self) -> LifecycleState | None:
        """The lifecycle state as last reported."""
        condition = self.conditions.get(ConditionType.SUCCEEDED)
        try:
            return None if condition is None else LifecycleState(condition.reason)
        except ValueError:
            return None

    @property
    def is_settled(self) -> bool:
        """Whether it has ended, and nothing has been asked of it since."""
        return (
            self.state in FINAL_STATUS and self.status.get("observedGeneration") == self.generation
        )

    @property
    def controller_epoch(self) -> int | None:
        """``status.controllerEpoch``."""
        epoch = self.status.get("controllerEpoch")
        return epoch if isinstance(epoch, int) else None

    @property
    def end_time_ms(self) -> int | None:
        """When it ended; None while it is active."""
        if self.state not in FINAL_STATUS:
            return None
        ended = milliseconds(self.status.get("completionTime"))
        if ended is not None:
            return ended
        return milliseconds(self.conditions[ConditionType.SUCCEEDED].last_transition_time)

    @property
    def has_claimed(self) -> bool:
        """Whether it has said that it is about to begin."""
        queue = _mapping(self.status.get("queue"))
        return self.state is LifecycleState.QUEUED and queue.get("position") == 0

    def manifest_document(self) -> dict[str, Any]:
        """Return what a user wrote: fields of the API server's are not the manifest's business."""
        return {
            "apiVersion": self.document.get("apiVersion"),
            "kind": self.document.get("kind"),
            "metadata": {"name": self.name},
            "spec": self.document.get("spec"),
        }

    def queue_entry(self) -> QueueEntry:
        """Return what the queue needs to know of it."""
        state = self.state or LifecycleState.PENDING
        is_queued = state is LifecycleState.QUEUED
        yields = not is_queued and _mapping(self.status.get("queue")).get("yielding") is True
        labels = _mapping(self.document["metadata"].get("labels"))
        return QueueEntry(
            name=self.name,
            uid=self.uid,
            creation_time=str(self.document["metadata"].get("creationTimestamp", "")),
            state=state,
            purpose=Purpose.DRAIN if labels.get(PURPOSE_LABEL) == DRAIN else Purpose.EXPLICIT,
            has_begun=self.has_claimed if is_queued else "startTime" in self.status and not yields,
            yields=yields,
            is_paused=self.spec.get("desiredState") == "Paused",
        )

    def owns(self, document: Document) -> bool:
        """Whether an object was made for this one, and not for another of its name."""
        owners = document["metadata"].get("ownerReferences") or ()
        return any(owner.get("uid") == self.uid for owner in owners)

    def owner_reference(self) -> dict[str, Any]:
        """Return the reference that lets what is made for it go with it."""
        return {
            "apiVersion": PARTITION_REASSIGNMENTS.api_version,
            "kind": PARTITION_REASSIGNMENTS.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": False,
        }


def milliseconds(time: object) -> int | None:
    """Return a moment in RFC 3339 as milliseconds since 1970, or None when it is none."""
    if not isinstance(time, str):
        return None
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
