"""A server that grants ZooKeeper sessions and then says nothing: ZooKeeper frozen."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SilentServer:
    """Where it listens, and the connections that it has accepted."""

    def __init__(self, hosts: str, writers: list[asyncio.StreamWriter]) -> None:
        self.hosts = hosts
        self._writers = writers

    def drop(self) -> None:
        """Break all connections; the next ones are accepted, but get no answer."""
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def silent_server(session_timeout_ms: int) -> AsyncIterator[SilentServer]:
    """Serve; the first connection gets its session, and nothing more."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        await reader.readexactly(size)
        if len(writers) == 1:
            answer = struct.pack(">iiqi16s?", 0, session_timeout_ms, 77, 16, bytes(16), False)
            writer.write(struct.pack(">i", len(answer)) + answer)
        await reader.read()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    silent = SilentServer(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", writers)
    try:
        yield silent
    finally:
        server.close()
        silent.drop()
        await server.wait_closed()
        await asyncio.sleep(0)
