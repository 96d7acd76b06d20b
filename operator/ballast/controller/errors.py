"""What can go wrong in the controller.

ControllerError
├── ControllerMoved          a write was fenced: another controller has been elected
├── StoreUnavailable         the metadata store's session is gone; nothing more can be written
├── StateChangeFailed        one partition or replica could not change state; others go on
├── IllegalTransition        the table of valid previous states forbids this step (a bug)
└── RequestRefused           a client's request cannot be served; carries Kafka's error name
"""


class ControllerError(Exception):
    """Root of the controller's errors."""


class ControllerMoved(ControllerError):
    """The check of ``/controller_epoch`` failed: this controller must resign at once."""


class StoreUnavailable(ControllerError):
    """The session with the metadata store has ended: this controller must resign at once."""


class StateChangeFailed(ControllerError):
    """A partition or replica keeps its state, for the reason given."""


class IllegalTransition(ControllerError):
    """The state table forbids the requested transition; nothing was changed."""


class RequestRefused(ControllerError):
    """A client's request is answered with an error.

    ``error`` is the name of Kafka's error code, for example ``UNKNOWN_TOPIC_OR_PARTITION``.
    """

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message
