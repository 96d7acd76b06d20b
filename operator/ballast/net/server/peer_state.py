"""Whether the peer of a connection has closed it, from the kernel's state of the socket.

While a connection is not read (its client has reached the limit of unanswered requests), the event
loop notices neither a FIN nor a reset. The kernel does: the state of the socket is the first byte
of ``TCP_INFO`` (``struct tcp_info`` of Linux; states as in ``include/net/tcp_states.h``). When the
receive buffer is full of unread requests, a FIN cannot arrive; then only
``connections.max.idle.ms`` ends the connection.
"""

import socket
from typing import Final, Protocol

TCP_CLOSE: Final = 7
"""The peer sent a reset, or did not acknowledge in time."""
TCP_CLOSE_WAIT: Final = 8
"""The peer sent a FIN."""

_ENDED: Final = frozenset({TCP_CLOSE, TCP_CLOSE_WAIT})
_TCP_INFO: Final = getattr(socket, "TCP_INFO", None)


class SocketOptions(Protocol):
    """The ``socket`` extra info of a transport."""

    def getsockopt(self, _level: int, _option: int, _size: int, /) -> bytes:
        """Return an option's bytes; raises `OSError`."""


def has_ended(own: SocketOptions | None) -> bool:
    """Whether the peer has closed or reset; False where the system cannot say."""
    if own is None or _TCP_INFO is None:
        return False
    try:
        info = own.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)
    except OSError:
        return False
    return info[0] in _ENDED
