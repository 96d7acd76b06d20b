"""What can go wrong in the coordinator; what a client did wrong is an error code in its answer.

CoordinatorError
├── IllegalTransition   the table of valid previous states forbids this step (a bug)
└── UnreadableRecord    a record of ``__consumer_offsets`` of an unknown kind, version or form
"""


class CoordinatorError(Exception):
    """Root of the coordinator's errors."""


class IllegalTransition(CoordinatorError):
    """A transition that the state table forbids was asked for; nothing was changed."""


class UnreadableRecord(CoordinatorError):
    """A key or value that no version known here could have written."""
