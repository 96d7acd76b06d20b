"""What the plugin changes: fields of a reassignment's spec, as ``kubectl patch`` would."""

from dataclasses import dataclass
from enum import StrEnum

from ballast.cli.kubectl.client import REASSIGNMENTS, Document, Kubectl
from ballast.cli.kubectl.objects import Reassignment, amount, at, number
from ballast.reassign.spec.spec import DesiredState


class ActionRefused(Exception):
    """Why nothing was changed."""


class Action(StrEnum):
    """What a user may want of a reassignment."""

    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    ROLL_BACK = "rollback"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meaning:
    desired: DesiredState
    done: str


_MEANINGS = {
    Action.PAUSE: _Meaning(desired=DesiredState.PAUSED, done="makes no new moves until resumed"),
    Action.RESUME: _Meaning(desired=DesiredState.RUNNING, done="goes on"),
    Action.CANCEL: _Meaning(
        desired=DesiredState.CANCELLED, done="takes back what is pending, and ends"
    ),
    Action.ROLL_BACK: _Meaning(desired=DesiredState.ROLLED_BACK, done="brings everything back"),
}


def set_desired_state(kubectl: Kubectl, name: str, action: Action) -> str:
    """Set ``spec.desiredState``; return what was done, in words.

    Raises `ActionRefused` for a reassignment that has ended, and `KubectlFailed`, also for what
    the API server does not allow: a cancelled one is not resumed.
    """
    reassignment = Reassignment(kubectl.get(REASSIGNMENTS, name))
    _check_not_ended(reassignment)
    meaning = _MEANINGS[action]
    before = at(reassignment.document, "spec", "desiredState") or DesiredState.RUNNING.value
    if before == meaning.desired.value:
        return f"{reassignment.name}: desiredState is {before} already"
    kubectl.patch(
        REASSIGNMENTS, name, _guarded(reassignment, {"desiredState": meaning.desired.value})
    )
    return f"{reassignment.name}: desiredState {before} -> {meaning.desired.value}: {meaning.done}"


def approve(kubectl: Kubectl, name: str, digest: str | None) -> list[str]:
    """Approve the plan that the status names; return what was done, in words.

    With ``digest``, only if it is that plan's, or begins as it does (12 digits at least). Raises
    `ActionRefused` and `KubectlFailed`.
    """
    reassignment = Reassignment(kubectl.get(REASSIGNMENTS, name))
    _check_not_ended(reassignment)
    planned = reassignment.digest
    if planned is None:
        why = f" - {reassignment.why}" if reassignment.why else ""
        raise ActionRefused(
            f"{reassignment.name} has no plan to approve yet: {reassignment.state}{why}"
        )
    if digest is not None and not _names(digest, planned):
        raise ActionRefused(f"{reassignment.name} has another plan, {planned}: look at it again")
    said = [
        f"{reassignment.name}: {_count(reassignment, 'partitions')} partitions, "
        f"{_count(reassignment, 'replicaMoves')} replicas to copy, "
        f"{amount(number(reassignment.document, 'status', 'plan', 'bytesToMove')) or '?'}, "
        f"{_count(reassignment, 'leaderChanges')} changes of preferred leader"
    ]
    if reassignment.approved_digest == planned:
        return [*said, f"plan {planned} is approved already"]
    kubectl.patch(
        REASSIGNMENTS, name, _guarded(reassignment, {"approval": {"planDigest": planned}})
    )
    return [*said, f"approved plan {planned}"]


def _check_not_ended(reassignment: Reassignment) -> None:
    if reassignment.has_ended:
        raise ActionRefused(
            f"{reassignment.name} has ended: {reassignment.state}; nothing was changed"
        )


def _guarded(reassignment: Reassignment, spec: Document) -> Document:
    """Return a patch of the very object that was looked at, not of a later one of its name."""
    return {"metadata": {"uid": at(reassignment.document, "metadata", "uid")}, "spec": spec}


def _names(digest: str, planned: str) -> bool:
    prefix = digest.removeprefix("sha256:")
    return len(prefix) >= 12 and planned.removeprefix("sha256:").startswith(prefix)


def _count(reassignment: Reassignment, key: str) -> str:
    value = number(reassignment.document, "status", "plan", key)
    return "?" if value is None else str(value)
