"""Errors of a broker.

BrokerError
├── StartupRefused           the broker must not run on this disk or under this id
├── ControllerUnavailable    no controller has answered in time
├── ProduceFailed            a produce request with acks=0 has failed
├── LoadNotWritten           samples of load could not be written
└── PartitionError           one partition's part of a request is answered with an error code
"""

from ballast.protocol.error_codes import ErrorCode


class BrokerError(Exception):
    """Root of the broker's errors."""


class StartupRefused(BrokerError):
    """The broker must not start: its disk or its id belongs to something else."""


class ControllerUnavailable(BrokerError):
    """No elected controller has answered in time.

    ``code`` is for the client: NOT_CONTROLLER (nothing was sent) or REQUEST_TIMED_OUT (the request
    may have been executed).
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
    """A produce request with acks=0 failed: only closing the connection can report that."""


class LoadNotWritten(BrokerError):
    """Samples of load could not be written: no topic, no leader, or an error of the leader."""
