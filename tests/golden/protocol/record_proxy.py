"""Record what passes between a foreign broker and all who talk to it, as a proxy before it.

``python -m tests.golden.protocol.record_proxy <file> <listen port>:<broker port> ...`` until
interrupted; the broker advertises the listening port, so that other brokers and the controller
come this way too. Only APIs and versions that Ballast knows are kept.
"""

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from ballast.protocol.api_keys import APIS, ApiKey

HOST = "127.0.0.1"
FRAMES_PER_FORM = 4
MOST_BYTES = 3000


class Recorder:
    """Frames by direction, API and version; new ones are written at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kept: dict[tuple[str, int, int], set[bytes]] = {}

    def keep(self, direction: str, key: int, version: int, frame: bytes) -> None:
        """Keep the first few different frames of a form; correlation ids make no difference."""
        if key not in tuple(ApiKey) or not APIS[ApiKey(key)].request.VERSIONS.has(version):
            return
        seen = self.kept.setdefault((direction, key, version), set())
        body = frame[8:] if direction == "request" else frame[4:]
        if body in seen or len(seen) >= FRAMES_PER_FORM or len(frame) > MOST_BYTES:
            return
        seen.add(body)
        with self.path.open("a") as file:
            file.write(f"{direction} {key} {version} {frame.hex()}\n")


class Connection:
    """One client's connection to one broker."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.asked: dict[int, tuple[int, int]] = {}

    def request(self, frame: bytes) -> None:
        key, version = (int.from_bytes(frame[i : i + 2], "big", signed=True) for i in (0, 2))
        self.asked[int.from_bytes(frame[4:8], "big")] = key, version
        self.recorder.keep("request", key, version, frame)

    def response(self, frame: bytes) -> None:
        asked = self.asked.pop(int.from_bytes(frame[:4], "big"), None)
        if asked is not None:
            self.recorder.keep("response", *asked, frame)


async def forward(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: Connection, way: str
) -> None:
    """Pass frames on, one way, until the connection ends."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            size = await reader.readexactly(4)
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            getattr(connection, way)(frame)
            writer.write(size + frame)
    writer.close()


async def serve(recorder: Recorder, listen_port: int, broker_port: int) -> None:
    """Stand before one broker for ever."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward = await asyncio.open_connection(HOST, broker_port)
        except ConnectionError:
            writer.close()
            return
        connection = Connection(recorder)
        await asyncio.gather(
            forward(reader, onward[1], connection, "request"),
            forward(onward[0], writer, connection, "response"),
        )

    server = await asyncio.start_server(accept, HOST, listen_port)
    await server.serve_forever()


async def main(path: str, *ports: str) -> None:
    """Stand before all brokers."""
    recorder = Recorder(Path(path))
    pairs = (tuple(map(int, pair.split(":"))) for pair in ports)
    await asyncio.gather(*(serve(recorder, listen, broker) for listen, broker in pairs))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
