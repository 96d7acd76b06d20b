"""Errors of the coordinator; errors of clients are error codes in their responses.

CoordinatorError
├── IllegalTransition   the table of valid previous states forbids this step (a bug)
└── UnreadableRecord    a record of ``__consumer_offsets`` of an unknown kind, version or form
"""


class CoordinatorError(Exception):
    """Root of the coordinator's errors."""


class IllegalTransition(CoordinatorError):
    """The state table forbids the requested transition; nothing was changed."""


class UnreadableRecord(CoordinatorError):
    """A key or value that no known version can have written."""
