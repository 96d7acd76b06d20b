"""Whether the other end of a connection has ended, asked of the kernel.

While a connection is not read (its client has as many requests unanswered as it may), the event
loop learns neither of a FIN nor of a reset. The kernel knows: the state of the socket is the first
byte of ``TCP_INFO`` (``struct tcp_info`` of Linux; states as in ``include/net/tcp_states.h``).
What the client sent before its end and nobody read keeps a FIN from arriving once the receive
buffer is full; then only ``connections.max.idle.ms`` ends the connection.
"""

import socket
from typing import Final, Protocol

TCP_CLOSE: Final = 7
"""A reset came, or what was sent was not acknowledged in time."""
TCP_CLOSE_WAIT: Final = 8
"""A FIN came."""

_ENDED: Final = frozenset({TCP_CLOSE, TCP_CLOSE_WAIT})
_TCP_INFO: Final = getattr(socket, "TCP_INFO", None)


class SocketOptions(Protocol):
    """What event loops give as the ``socket`` of a transport."""

    def getsockopt(self, _level: int, _option: int, _size: int, /) -> bytes:
        """Return an option's bytes; raises `OSError`."""


def has_ended(own: SocketOptions | None) -> bool:
    """Tell whether the peer has closed or reset; False where the system cannot tell."""
    if own is None or _TCP_INFO is None:
        return False
    try:
        info = own.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)
    except OSError:
        return False
    return info[0] in _ENDED
