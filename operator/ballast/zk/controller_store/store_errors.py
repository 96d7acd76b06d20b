"""ZooKeeper's errors as the controller knows them."""

from collections.abc import Iterator
from contextlib import contextmanager

from ballast.controller.errors import StateChangeFailed, StoreUnavailable
from ballast.zk.errors import ConnectionLoss, RequestFailed, SessionExpired, ZooKeeperError


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn what ZooKeeper raises into the controller's errors.

    A session that ended, or whose connections keep breaking, is of no use to a controller:
    `StoreUnavailable`. Anything else concerns what was asked for alone: `StateChangeFailed`.
    """
    try:
        yield
    except (SessionExpired, ConnectionLoss, RequestFailed) as error:
        raise StoreUnavailable(f"{type(error).__name__}: {error}") from error
    except ZooKeeperError as error:
        raise StateChangeFailed(f"{type(error).__name__}: {error}") from error
