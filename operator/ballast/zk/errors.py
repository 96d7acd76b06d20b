"""What can go wrong with ZooKeeper.

ZooKeeperError
├── NoNode               the znode, or its parent, does not exist
├── NodeExists           the znode exists already
├── BadVersion           the znode's version is not the one named
├── NotEmpty             the znode to delete has children
├── NoChildrenForEphemerals  an ephemeral znode cannot be a parent
├── RequestTooLarge      the request exceeds what ZooKeeper takes; it was not sent
├── RequestFailed        the server refused for another reason; the message names its code
├── MultiFailed          one operation failed, so none of the multi was applied
├── ConnectionLoss       no reply came: the outcome is unknown
├── SessionExpired       the session has ended; this client is finished
└── AlreadyRegistered    another live session owns the ephemeral znode
"""


class ZooKeeperError(Exception):
    """Root of what a ZooKeeper client and the stores above it raise."""


class NoNode(ZooKeeperError):
    """The znode, or the parent of the znode to create, does not exist."""


class NodeExists(ZooKeeperError):
    """The znode to create exists already."""


class BadVersion(ZooKeeperError):
    """The znode's version is not the one that the caller named."""


class NotEmpty(ZooKeeperError):
    """The znode to delete has children."""


class NoChildrenForEphemerals(ZooKeeperError):
    """The parent of the znode to create is ephemeral."""


class RequestTooLarge(ZooKeeperError):
    """The request is larger than ZooKeeper takes (1 MiB); it was not sent."""


class RequestFailed(ZooKeeperError):
    """The server refused the request for a reason that no caller handles."""


class MultiFailed(ZooKeeperError):
    """A multi failed as a whole; nothing of it was applied.

    ``index`` is the place of the first operation that failed and ``error`` why it did.
    """

    def __init__(self, index: int, error: ZooKeeperError) -> None:
        super().__init__(f"operation {index}: {error!r}")
        self.index = index
        self.error = error


class ConnectionLoss(ZooKeeperError):
    """No reply came. A write may have been applied or not: read again before deciding."""


class SessionExpired(ZooKeeperError):
    """ZooKeeper has ended the session, or its owner has closed it."""


class AlreadyRegistered(ZooKeeperError):
    """Another live session owns the ephemeral znode that this one wants to create."""
