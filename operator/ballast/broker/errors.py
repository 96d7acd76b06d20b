"""What can go wrong in a broker.

BrokerError
├── StartupRefused           the broker must not run on this disk or under this id
├── ControllerUnavailable    no controller has answered within the wait allowed
├── ProduceFailed            a produce request that wants no answer has failed
├── LoadNotWritten           samples of load found nobody who took them
└── PartitionError           one partition's part of a request is answered with an error code
"""

from ballast.protocol.error_codes import ErrorCode


class BrokerError(Exception):
    """Root of the broker's errors."""


class StartupRefused(BrokerError):
    """The broker must not start: its disk or its id belongs to something else."""


class ControllerUnavailable(BrokerError):
    """No elected controller has answered within the wait allowed.

    ``code`` tells the client: NOT_CONTROLLER (nothing was sent) or REQUEST_TIMED_OUT (it may have
    been carried out).
    """

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class PartitionError(BrokerError):
    """One partition's part of a request is answered with ``code``; others are not affected."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


class ProduceFailed(BrokerError):
    """A produce request with acks=0 failed: closing the connection is the only way to say so."""


class LoadNotWritten(BrokerError):
    """Samples of load could not be written: there is no topic or leader, or it refused them."""
