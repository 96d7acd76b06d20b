"""Errors between this process and its peers.

NetError
├── ConnectFailed         no connection could be made
├── Disconnected          the connection ended before the response; the outcome is unknown
├── RequestTimedOut       no response in time; the outcome is unknown, the connection is closed
├── UnsupportedByPeer     there is no version of the request that both sides support
├── MalformedResponse     the bytes of the peer cannot be decoded; the connection is closed
├── MalformedFrame        the length or header of a frame is invalid; the connection is closed
└── QueueOverflow         the queue of one broker is full: the controller must resign
"""


class NetError(Exception):
    """Root of this package's errors."""


class ConnectFailed(NetError):
    """No connection could be made; nothing was sent."""


class Disconnected(NetError):
    """The connection ended before the response arrived; the request may have been executed."""


class RequestTimedOut(NetError):
    """No response arrived in time; the request may have been executed."""


class UnsupportedByPeer(NetError):
    """Peer and client have no version of the request in common; nothing was sent."""


class MalformedResponse(NetError):
    """The response of the peer cannot be decoded."""


class MalformedFrame(NetError):
    """The length or header of a frame is invalid."""


class QueueOverflow(NetError):
    """A bounded queue of control requests is full."""
