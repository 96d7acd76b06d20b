"""What can go wrong between this process and its peers.

NetError
├── ConnectFailed         no connection could be made
├── Disconnected          the connection ended before the answer came; the outcome is unknown
├── RequestTimedOut       no answer in time; the outcome is unknown and the connection is closed
├── UnsupportedByPeer     no version of the request is spoken by both sides
├── MalformedResponse     the peer's bytes cannot be read; the connection is closed
├── MalformedFrame        a client's length or header is impossible; the connection is closed
└── QueueOverflow         a broker's queue of commands is full: its controller must resign
"""


class NetError(Exception):
    """Root of this package's errors."""


class ConnectFailed(NetError):
    """No connection could be made; nothing was sent."""


class Disconnected(NetError):
    """The connection ended while the answer was awaited; the request may have been carried out."""


class RequestTimedOut(NetError):
    """No answer came in time; the request may have been carried out."""


class UnsupportedByPeer(NetError):
    """The peer and this client share no version of the request; nothing was sent."""


class MalformedResponse(NetError):
    """The peer's answer cannot be read."""


class MalformedFrame(NetError):
    """A frame's length or header is impossible."""


class QueueOverflow(NetError):
    """A bounded queue of commands is full."""
