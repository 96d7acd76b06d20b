"""What ends a plan job without a plan."""


class PlanJobFailed(Exception):
    """Any failure of this package; the text is the reason."""


class ApiRefused(PlanJobFailed):
    """The Kubernetes API did not do what was asked."""


class ChunkTaken(PlanJobFailed):
    """There is an object of another attempt, or of somebody else, where this one's should be."""
