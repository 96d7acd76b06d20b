"""What the plugin reads from reassignments and broker sets; any field may be missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ballast.cli.kubectl.client import Document
from ballast.model.conditions import ConditionStatus
from ballast.model.quantity import format_bytes
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, LifecycleState

_ENDED = {state.value for state in FINAL_STATUS}
_PLAIN_STATES = {LifecycleState.EXECUTING.value, LifecycleState.VERIFYING.value}


def clean(value: object) -> str:
    """Return a value as printable text: its author may be untrusted."""
    text = "" if value is None else str(value)
    return "".join(character if character.isprintable() else "?" for character in text)


def at(document: object, *path: str) -> Any:
    """Return what is at the end of a path of keys; None where there is nothing."""
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document


def number(document: object, *path: str) -> int | None:
    """Return the whole number at the end of a path; None where there is none."""
    value = at(document, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def amount(count: int | None, unit: str = "B") -> str:
    """Return bytes in short human form; empty when not known."""
    return "" if count is None else f"{format_bytes(count)}{unit}"


def condition(document: Document, kind: str) -> Document:
    """Return one condition of an object; empty when it has none of that type."""
    conditions = at(document, "status", "conditions")
    for candidate in conditions if isinstance(conditions, list) else ():
        if at(candidate, "type") == kind and isinstance(candidate, dict):
            return candidate
    return {}


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A view of one PartitionReassignment."""

    document: Document

    @property
    def name(self) -> str:
        return clean(at(self.document, "metadata", "name"))

    @property
    def broker_set(self) -> str:
        return clean(at(self.document, "spec", "brokerSetRef", "name"))

    @property
    def state(self) -> str:
        """The lifecycle state."""
        value = condition(self.document, ConditionType.SUCCEEDED).get("reason")
        return clean(value) or LifecycleState.PENDING.value

    @property
    def has_ended(self) -> bool:
        """Whether it never runs again."""
        status = condition(self.document, ConditionType.SUCCEEDED).get("status")
        return self.state in _ENDED and status in {ConditionStatus.TRUE, ConditionStatus.FALSE}

    @property
    def has_begun(self) -> bool:
        """Whether anything may have been moved."""
        return at(self.document, "status", "startTime") is not None

    @property
    def digest(self) -> str | None:
        """The digest of its plan; None while there is none."""
        value = at(self.document, "status", "plan", "digest")
        return clean(value) if value else None

    @property
    def approved_digest(self) -> str | None:
        """The digest that its spec approves."""
        value = at(self.document, "spec", "approval", "planDigest")
        return clean(value) if value else None

    @property
    def progress(self) -> str:
        """How far it is, as ``3/7 (42%)``."""
        return clean(at(self.document, "status", "progress", "summary"))

    @property
    def remaining(self) -> str:
        """Bytes left."""
        return amount(number(self.document, "status", "progress", "bytesRemaining"))

    @property
    def rate(self) -> str:
        """Bytes a second."""
        return amount(number(self.document, "status", "progress", "bytesPerSecond"), "B/s")

    @property
    def eta(self) -> str:
        """Time left, in words."""
        return clean(at(self.document, "status", "progress", "eta"))

    @property
    def why(self) -> str:
        """What a user should know beyond state and numbers."""
        if self.has_ended:
            return clean(condition(self.document, ConditionType.SUCCEEDED).get("message"))
        for kind, bad in (
            (ConditionType.STALLED, ConditionStatus.TRUE),
            (ConditionType.ACCEPTED, ConditionStatus.FALSE),
            (ConditionType.APPROVED, ConditionStatus.FALSE),
            (ConditionType.PROGRESSING, ConditionStatus.FALSE),
        ):
            verdict = condition(self.document, kind)
            if verdict.get("status") == bad and self.state not in {verdict.get("reason"), None}:
                message = clean(verdict.get("message"))
                reason = clean(verdict.get("reason"))
                return f"{reason}: {message}" if message else reason
        return self._queue

    @property
    def headline(self) -> str:
        """All of it in one line."""
        parts = [self.state]
        if self.progress:
            parts.append(self.progress)
        if self.state in _PLAIN_STATES:
            parts += [f"{self.remaining} to go", self.rate, f"ETA {self.eta}"]
        return ", ".join(part for part in parts if part) + (f" - {self.why}" if self.why else "")

    @property
    def _queue(self) -> str:
        behind = at(self.document, "status", "queue", "blockedBy")
        if self.state != LifecycleState.QUEUED.value or not isinstance(behind, list) or not behind:
            return ""
        return f"behind {', '.join(map(clean, behind))}"
