"""The listener: accepts connections within its limits and closes them in good order."""

import asyncio
import logging
from dataclasses import dataclass

from ballast.net.connection import Connection
from ballast.net.limits import ServerLimits
from ballast.net.requests import Handler

log = logging.getLogger(__name__)


@dataclass(slots=True)
class ServerCounters:
    """What a server has seen since it started; only ever counts up."""

    accepted: int = 0
    refused: int = 0
    """Closed at once because of max_connections or max_connections_per_ip."""
    requests: int = 0
    malformed: int = 0
    """Connections closed for a frame or request that cannot be read."""
    handler_errors: int = 0
    timed_out: int = 0
    """Connections closed for idleness, a stalled frame or a stalled reader."""


class Server:
    """Serves Kafka-protocol frames on one listening address.

    ``tasks`` is the group in which coroutines returned by ``handler`` run; it must outlive the
    server. Close the server (or cancel the group) before leaving the group.
    """

    def __init__(
        self, handler: Handler, *, tasks: asyncio.TaskGroup, limits: ServerLimits | None = None
    ) -> None:
        self.handler = handler
        self.tasks = tasks
        self.limits = limits or ServerLimits()
        self.counters = ServerCounters()
        self._connections: dict[int, Connection] = {}
        self._connections_of: dict[str, int] = {}
        self._last_connection_id = 0
        self._listener: asyncio.Server | None = None
        self._port = 0
        self._empty: asyncio.Event = asyncio.Event()

    async def start(self, host: str, port: int) -> None:
        """Listen on host and port (0 = any free one); raises `OSError`."""

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._port

    @property
    def connection_count(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    async def close(self, grace_s: float = 5.0) -> None:
        """Stop listening; let requests under way be answered for ``grace_s``, then drop the rest."""
