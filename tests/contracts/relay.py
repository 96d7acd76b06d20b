"""A relay in front of ZooKeeper; it does something before it sends on requests of one kind."""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

_CONNECT = -1
"""Stands for the first frame of a connection, which names no opcode."""


class Relay:
    """Where it listens, and how its connections are broken."""

    def __init__(
        self, port: int, opcode: int, before: Callable[["Relay"], Awaitable[None]]
    ) -> None:
        self.hosts = ""
        self._port = port
        self._opcode = opcode
        self._before = before
        self._writers: list[asyncio.StreamWriter] = []

    def drop(self) -> None:
        """Break all connections."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until either side ends it."""
        upstream, onward = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, onward]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._requests(reader, onward))
            tasks.create_task(_bytes(upstream, writer))

    async def _requests(self, reader: asyncio.StreamReader, onward: asyncio.StreamWriter) -> None:
        opcode = _CONNECT
        try:
            while True:
                size = await reader.readexactly(4)
                frame = await reader.readexactly(int.from_bytes(size))
                if opcode != _CONNECT:
                    (opcode,) = struct.unpack_from(">i", frame, 4)
                if opcode == self._opcode:
                    await self._before(self)
                opcode = 0
                onward.write(size + frame)
        except (asyncio.IncompleteReadError, ConnectionError):
            onward.close()


async def _bytes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
    except ConnectionError:
        pass
    writer.close()


@asynccontextmanager
async def relay(
    port: int, opcode: int, before: Callable[[Relay], Awaitable[None]]
) -> AsyncIterator[Relay]:
    """Relay to ZooKeeper's port; ``before`` runs before each request of that opcode is sent on."""
    it = Relay(port, opcode, before)
    server = await asyncio.start_server(it.serve, "127.0.0.1", 0)
    it.hosts = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield it
    finally:
        server.close()
        it.drop()
        await server.wait_closed()
