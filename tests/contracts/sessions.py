"""Ending another's session: how a test makes ZooKeeper expire one at once."""

import asyncio
import contextlib
import struct


async def end_session(port: int, session_id: int, password: bytes) -> None:
    """Connect with a session's id and password, and close it: its owner finds it expired."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        connect = struct.pack(">iqiqi", 0, 0, 10_000, session_id, len(password)) + password + b"\0"
        _send(writer, connect)
        await _receive(reader)
        _send(writer, struct.pack(">ii", 1, -11))
        # ZooKeeper closes the connection at once; its reply may be lost by that.
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await _receive(reader)
    finally:
        writer.close()
        await writer.wait_closed()


def _send(writer: asyncio.StreamWriter, body: bytes) -> None:
    writer.write(struct.pack(">i", len(body)) + body)


async def _receive(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)
