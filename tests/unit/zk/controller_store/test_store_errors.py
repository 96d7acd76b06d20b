import pytest

from ballast.controller.errors import ControllerMoved, StateChangeFailed, StoreUnavailable
from ballast.zk.controller_store.store_errors import store_errors
from ballast.zk.errors import (
    BadVersion,
    ConnectionLoss,
    RequestFailed,
    RequestTooLarge,
    SessionExpired,
)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (SessionExpired(), StoreUnavailable),
        (ConnectionLoss(), StoreUnavailable),
        (RequestFailed(), StoreUnavailable),
        (RequestTooLarge(), StateChangeFailed),
        (BadVersion(), StateChangeFailed),
        (ControllerMoved(), ControllerMoved),
        (KeyError(), KeyError),
    ],
)
def test_what_the_controller_sees(raised: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected), store_errors():
        raise raised
