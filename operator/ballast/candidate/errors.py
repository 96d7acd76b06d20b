"""Errors that end the term of a controller.

CandidateError
├── Deposed          /controller is no longer this candidate's
├── SessionEnded     the session with ZooKeeper has expired
├── PathTaken        the path in ZooKeeper has another owner: this candidate must not be elected
└── EventQueueFull   the queue of events is full: another controller starts from ZooKeeper
"""


class CandidateError(Exception):
    """Root of this package's errors."""


class Deposed(CandidateError):
    """/controller was deleted or replaced."""


class SessionEnded(CandidateError):
    """The session has expired."""


class EventQueueFull(CandidateError):
    """The bounded queue of events is full; none may be dropped."""


class PathTaken(CandidateError):
    """The path in ZooKeeper has another owner: nothing there may be changed."""
