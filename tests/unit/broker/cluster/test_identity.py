import pytest

from ballast.broker.cluster.identity import ControllerFence, Identity
from ballast.protocol.error_codes import ErrorCode


def fence() -> ControllerFence:
    identity = Identity(1)
    identity.registered(50)
    return ControllerFence(identity)


@pytest.mark.parametrize(
    ("controller_epoch", "broker_epoch", "expected"),
    [
        (3, 50, None),
        (4, 50, None),
        (3, -1, None),
        (3, 51, None),
        (2, 50, ErrorCode.STALE_CONTROLLER_EPOCH),
        (3, 49, ErrorCode.STALE_BROKER_EPOCH),
        (4, 49, ErrorCode.STALE_BROKER_EPOCH),
    ],
)
def test_epochs(controller_epoch: int, broker_epoch: int, expected: ErrorCode | None) -> None:
    known = fence()
    assert known.check(3, 50) is None
    assert known.check(controller_epoch, broker_epoch) == expected
    assert known.controller_epoch == (max(3, controller_epoch) if expected is None else 3)


@pytest.mark.parametrize("broker_epoch", [-1, 49, 50])
def test_between_sessions_the_last_registration_is_stale(broker_epoch: int) -> None:
    identity = Identity(1)
    identity.registered(50)
    identity.lost()
    assert ControllerFence(identity).check(9, broker_epoch) == ErrorCode.STALE_BROKER_EPOCH


def test_a_command_for_the_next_registration_may_come_early() -> None:
    identity = Identity(1)
    identity.registered(50)
    identity.lost()
    assert ControllerFence(identity).check(9, 51) is None
    identity.registered(51)
    assert identity.is_registered
