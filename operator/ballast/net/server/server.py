"""The listener: accepts connections within its limits and closes them in order."""

import asyncio
import logging

from ballast.net.server.connection import Connection
from ballast.net.server.limits import ConnectionRate, ServerCounters, ServerLimits
from ballast.net.server.request_memory import RequestMemory
from ballast.net.server.requests import Handler

log = logging.getLogger(__name__)


class Server:
    """Serves Kafka-protocol frames on one listening address.

    ``tasks`` is the group in which coroutines returned by ``handler`` run; it must outlive the
    server: close the server before leaving the group.
    """

    def __init__(
        self, handler: Handler, *, tasks: asyncio.TaskGroup, limits: ServerLimits | None = None
    ) -> None:
        self.handler = handler
        self.tasks = tasks
        self.limits = limits or ServerLimits()
        """A change applies to new connections."""
        self.counters = ServerCounters()
        self.request_memory = (
            RequestMemory(self.limits.queued_request_bytes)
            if self.limits.queued_request_bytes > 0
            else None
        )
        self._rate = ConnectionRate()
        self._connections: dict[int, Connection] = {}
        self._connections_of: dict[str, int] = {}
        self._last_connection_id = 0
        self._listener: asyncio.AbstractServer | None = None
        self._port = 0
        self._all_gone = asyncio.Event()

    async def start(self, host: str, port: int) -> None:
        """Listen on host and port (0 = any free one); raises `OSError`."""
        await self.bind(host, port)
        await self.listen()

    async def bind(self, host: str, port: int) -> None:
        """Bind host and port (0 = any free one) without accepting connections; raises `OSError`."""
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(
            lambda: Connection(self, loop), host, port, backlog=1024, start_serving=False
        )
        sockets = getattr(self._listener, "sockets", None)
        self._port = sockets[0].getsockname()[1] if sockets else port

    async def listen(self) -> None:
        """Accept connections at the address that `bind` has bound."""
        assert self._listener is not None, "bind comes first"
        await self._listener.start_serving()

    @property
    def port(self) -> int:
        """The port of the listener."""
        return self._port

    @property
    def connection_count(self) -> int:
        """Open connections."""
        return len(self._connections)

    async def close(self, grace_s: float = 5.0) -> None:
        """Stop listening; wait ``grace_s`` for requests in flight, then abort the rest."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        for connection in list(self._connections.values()):
            connection.close_when_answered()
        try:
            async with asyncio.timeout(grace_s):
                while self._connections:
                    self._all_gone.clear()
                    await self._all_gone.wait()
        except TimeoutError:
            log.warning("dropping %d connections that did not end", len(self._connections))
        finally:
            for connection in list(self._connections.values()):
                connection.abort()

    # -- called by connections (ConnectionOwner) -----------------------------------------------

    def admit(self, connection: Connection) -> str | None:
        """Register a new connection, or return why it is refused."""
        here = self._connections_of.get(connection.peer_host, 0)
        refusal = self._refusal(connection, here)
        if refusal is not None:
            self.counters.refused += 1
            return refusal
        self._last_connection_id += 1
        connection.connection_id = self._last_connection_id
        self._connections[connection.connection_id] = connection
        self._connections_of[connection.peer_host] = here + 1
        self.counters.accepted += 1
        return None

    def _refusal(self, connection: Connection, here: int) -> str | None:
        limits = self.limits
        allowed_here = limits.max_connections_of.get(
            connection.peer_host, limits.max_connections_per_ip
        )
        if self._listener is None:
            return "shutting down"
        if len(self._connections) >= limits.max_connections:
            return f"max.connections {limits.max_connections}"
        if not self._has_descriptors(connection):
            return f"descriptors up to {limits.max_descriptor} are in use"
        if here >= allowed_here:
            return f"max.connections.per.ip {allowed_here}"
        if not limits.connections_per_s:
            return "max.connection.creation.rate 0"
        return None

    def turn_in_s(self, now: float) -> float:
        """Return for how many seconds a connection accepted now is not read from."""
        return self._rate.delay_s(self.limits.connections_per_s, now)

    def _has_descriptors(self, connection: Connection) -> bool:
        most = self.limits.max_descriptor
        return most is None or connection.descriptor < most

    def forget(self, connection: Connection) -> None:
        """Remove a connection that was lost."""
        if self._connections.pop(connection.connection_id, None) is None:
            return
        left = self._connections_of[connection.peer_host] - 1
        if left:
            self._connections_of[connection.peer_host] = left
        else:
            del self._connections_of[connection.peer_host]
        if not self._connections:
            self._all_gone.set()
