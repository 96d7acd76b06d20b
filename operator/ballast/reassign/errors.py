"""The errors of a reassignment: all are raised before anything is changed."""

from collections.abc import Sequence

from ballast.model.fields import FieldError


class ReassignError(Exception):
    """Any refusal of this package."""


class ManifestRejected(ReassignError):
    """A manifest that cannot be executed; nothing has been changed."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("; ".join(str(error) for error in errors))
        self.errors = tuple(errors)


class ReassignmentFileRejected(ReassignError):
    """Kafka's reassignment JSON is not acceptable; the message is that of Kafka's tool."""


class PlanRejected(ReassignError):
    """A stored plan is not one that `Plan` wrote."""


class PlanChunkRejected(PlanRejected):
    """A stored chunk differs from its index, or is not part of a plan."""

    def __init__(self, chunk: str, reason: str, line: int | None = None) -> None:
        where = chunk if line is None else f"{chunk}, line {line}"
        super().__init__(f"{where}: {reason}")
        self.chunk = chunk
        self.line = line
        """Line of the chunk, from 1; None = the chunk as a whole."""


class StateMismatch(ReassignError):
    """The persisted state belongs to another reassignment, or cannot be read."""
