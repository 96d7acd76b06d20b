from ballast.broker.errors import (
    BrokerError,
    ControllerUnavailable,
    PartitionError,
    ProduceFailed,
    StartupRefused,
)
from ballast.protocol.error_codes import ErrorCode


def test_one_tree() -> None:
    for error in (
        ControllerUnavailable(ErrorCode.NOT_CONTROLLER),
        PartitionError(ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ProduceFailed("t-0"),
        StartupRefused("disk"),
    ):
        assert isinstance(error, BrokerError)


def test_errors_carry_what_the_client_is_told() -> None:
    error = PartitionError(ErrorCode.INVALID_REQUEST, "why")
    assert (error.code, error.message) == (ErrorCode.INVALID_REQUEST, "why")
    assert ControllerUnavailable(ErrorCode.REQUEST_TIMED_OUT).code == 7
