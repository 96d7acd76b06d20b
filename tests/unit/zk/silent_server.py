"""A server that grants ZooKeeper sessions and then says nothing: ZooKeeper frozen."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def silent_server(session_timeout_ms: int) -> AsyncIterator[str]:
    """Yield its connect string."""
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
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in writers:
            writer.transport.abort()
        await server.wait_closed()
        await asyncio.sleep(0)
