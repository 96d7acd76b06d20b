"""What ends a leadership.

CandidateError
├── Deposed          /controller is no longer this candidate's
├── SessionEnded     the session with ZooKeeper is over, and with it the leadership
├── PathTaken        the path in ZooKeeper is somebody else's: there may be no leadership
└── EventQueueFull   more has happened than is handled: another controller starts afresh
"""


class CandidateError(Exception):
    """Root of this package's errors."""


class Deposed(CandidateError):
    """Somebody deleted or replaced /controller."""


class SessionEnded(CandidateError):
    """The session has expired."""


class EventQueueFull(CandidateError):
    """The bounded queue of events is full; none may be dropped."""


class PathTaken(CandidateError):
    """The path in ZooKeeper belongs to somebody else: nothing there may be changed."""
