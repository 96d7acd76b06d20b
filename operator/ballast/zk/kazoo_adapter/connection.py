"""kazoo without its worker threads: its connection thread calls a listener.

kazoo passes replies and watch events to two worker threads, which loses their order. Here the
listener gets both, and session states, in the order in which they were read.
"""

import logging
import select
import socket
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss as KazooConnectionLoss
from kazoo.exceptions import SessionExpiredError
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol.connection import ConnectionHandler
from kazoo.protocol.serialization import CloseInstance, Connect
from kazoo.protocol.serialization import Watch as WatcherEvent
from kazoo.retry import KazooRetry

from ballast.zk.errors import ConnectionLoss, RequestFailed, SessionExpired, ZooKeeperError
from ballast.zk.kazoo_adapter.requests import error_of

RETRY_DELAY_S = 0.05
RETRY_DELAY_MAX_S = 1.0

ATTEMPT_MAX_S = 3.0
"""How long one attempt to open a TCP connection may take.

kazoo allows a whole session timeout. The kernel repeats a SYN ever less often, so an attempt that
was made while the network was cut may notice the end of the cut many seconds later.
"""

# kazoo logs every attempt to connect; the session's events are logged by this package.
_log = logging.getLogger("ballast.zk.kazoo")
_log.setLevel(logging.ERROR)


class Listener(Protocol):
    """Callbacks of a connection; all are called on kazoo's thread."""

    def heard(self) -> None:
        """Note that ZooKeeper has responded."""

    def watch_fired(self, event_type: int, path: str) -> None:
        """Take an event: ZooKeeper's number of its type, and the path in the chroot."""

    def state_changed(self, state: str, session_id: int, timeout_ms: int) -> None:
        """Take the state ``CONNECTED``, ``SUSPENDED`` or ``LOST``."""

    def stopped(self) -> None:
        """Note that the thread ends and its sockets are closed."""


def make_client(hosts: str, session_timeout_s: float, listener: Listener) -> Any:
    """Return a kazoo client that calls a listener; `request_stop` ends it."""
    handler = _Handler()
    retry = KazooRetry(
        max_tries=-1,
        delay=RETRY_DELAY_S,
        max_delay=RETRY_DELAY_MAX_S,
        sleep_func=handler.sleep_func,
    )
    client = KazooClient(
        hosts=hosts,
        timeout=session_timeout_s,
        handler=handler,
        connection_retry=retry,
        logger=_log,
    )
    connection = _Connection(client, client._conn_retry.copy(), _log, listener)
    client._connection = connection

    def state_changed(state: str) -> None:
        if state == "LOST":
            # kazoo would go on with a new session under the same client.
            client._stopped.set()
        listener.state_changed(state, client._session_id or 0, connection.timeout_ms)

    client.add_listener(state_changed)
    return client


def request_stop(client: Any) -> None:
    """Ask the connection thread to close the session and end, without waiting for it."""
    client._stopped.set()
    client._queue.append((CloseInstance, None))
    wake = client._connection._write_sock
    if wake is not None:
        try:
            wake.send(b"\0")
        except OSError:
            # The thread has ended meanwhile and closed its sockets.
            return


def translated(error: Exception, path: str) -> ZooKeeperError:
    """Return the port's error for one of kazoo's."""
    if isinstance(error, KazooConnectionLoss):
        return ConnectionLoss(f"{path}: no reply came")
    if isinstance(error, SessionExpiredError):
        return SessionExpired("the session has ended")
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return error_of(code, path)
    return RequestFailed(f"{path}: {error!r}")


class Reply:
    """Takes the answer to one request from kazoo, on its thread."""

    __slots__ = ("_on_error", "_on_value", "_path")

    def __init__(
        self,
        path: str,
        on_value: Callable[[object], None],
        on_error: Callable[[ZooKeeperError], None],
    ) -> None:
        self._path = path
        self._on_value = on_value
        self._on_error = on_error

    def set(self, value: object) -> None:
        """Take the deserialised reply."""
        self._on_value(value)

    def set_exception(self, error: Exception) -> None:
        """Take the error that was answered instead, or that the connection was lost."""
        self._on_error(translated(error, self._path))


class _Handler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo has no types
    """kazoo's thread handler without its worker threads."""

    def start(self) -> None:
        self._running = True

    def stop(self) -> None:
        self._running = False

    def create_connection(self, *args: Any, **options: Any) -> socket.socket:
        """Connect as kazoo does, but give an attempt up after `ATTEMPT_MAX_S`."""
        options["timeout"] = min(options["timeout"], ATTEMPT_MAX_S)
        made: socket.socket = super().create_connection(*args, **options)
        return made

    def select(
        self,
        rlist: Sequence[socket.socket],
        wlist: Sequence[socket.socket],
        xlist: Sequence[socket.socket],
        timeout: float | None = None,
    ) -> tuple[list[socket.socket], list[socket.socket], list[socket.socket]]:
        """Wait as `select.select` does. kazoo's own makes an epoll object each time."""
        assert not xlist
        poll = select.poll()
        for sock in rlist:
            poll.register(sock, select.POLLIN)
        for sock in wlist:
            poll.register(sock, select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(None if timeout is None else timeout * 1000)}
        return (
            [sock for sock in rlist if sock.fileno() in ready],
            [sock for sock in wlist if sock.fileno() in ready],
            [],
        )


class _Connection(ConnectionHandler):  # type: ignore[misc]  # kazoo has no types
    """kazoo's connection, which calls the listener.

    kazoo does not manage the watches: it would need a request of its own for each.
    """

    def __init__(
        self, client: KazooClient, retry: KazooRetry, logger: logging.Logger, listener: Listener
    ) -> None:
        super().__init__(client, retry, logger=logger)
        self.timeout_ms = 0
        self._listener = listener

    def _invoke(self, timeout: float, request: Any, xid: int | None = None) -> Any:
        result = super()._invoke(timeout, request, xid)
        if isinstance(request, Connect):
            # The session timeout that the server grants, known before the state changes.
            self.timeout_ms = result[0].time_out
            self._listener.heard()
        return result

    def _read_socket(self, read_timeout: float) -> Any:
        response = super()._read_socket(read_timeout)
        self._listener.heard()
        return response

    def _read_watch_event(self, buffer: bytes, offset: int) -> None:
        event, _ = WatcherEvent.deserialize(buffer, offset)
        self._listener.watch_fired(event.type, self.client.unchroot(event.path))

    def zk_loop(self) -> None:
        try:
            super().zk_loop()
        finally:
            self.close()
            self._listener.stopped()
