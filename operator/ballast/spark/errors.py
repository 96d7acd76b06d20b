"""Errors that end a plan job without a plan."""


class PlanJobFailed(Exception):
    """Any failure of this package; the text is the reason."""


class ApiRefused(PlanJobFailed):
    """The Kubernetes API refused a request, or did not respond."""


class ChunkTaken(PlanJobFailed):
    """An object of that name exists, with content of another attempt or another writer."""
