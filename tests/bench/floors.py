"""What the machine gives when nothing but the bytes is handled: the floors of the measurements.

Each floor is a bare loop over blocking sockets on loopback, with the receiver or sender in a
process of its own, as a broker is.
"""

import multiprocessing
import os
import socket
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

MIB = 1024 * 1024
WARM_ROUNDS = 8
WARM_ENOUGH = 0.8


def warm_memory(size_bytes: int, folder: Path) -> None:
    """Write and drop a file until that goes no faster, so that the next file gets pages that exist.

    On a virtual machine the first touch of a page costs a fault in the hypervisor (0.4 GB/s was
    seen, against 4 GB/s), and memory left free for seconds is given back; who pays for it would
    be chance, and it costs more than everything that is measured here.
    """
    block = os.urandom(MIB)
    best_s = float("inf")
    for _ in range(WARM_ROUNDS):
        with tempfile.TemporaryFile(dir=folder) as file:
            started = time.perf_counter()
            for position in range(0, size_bytes, MIB):
                os.pwrite(file.fileno(), block, position)
            taken_s = time.perf_counter() - started
        if taken_s > WARM_ENOUGH * best_s:
            return
        best_s = min(best_s, taken_s)


def receive_and_write(frame_bytes: int, total_bytes: int, folder: Path) -> float:
    """Return bytes per second of ``recv_into`` + ``pwrite`` in frames of one size."""
    frames = total_bytes // frame_bytes
    payload = bytearray(os.urandom(frame_bytes))

    def serve(listener: socket.socket, done: Connection) -> None:
        connection, _ = listener.accept()
        buffer = memoryview(bytearray(frame_bytes))
        with tempfile.TemporaryFile(dir=folder) as file:
            descriptor, position = file.fileno(), 0
            for _ in range(frames):
                filled = 0
                while filled < frame_bytes:
                    filled += connection.recv_into(buffer[filled:])
                position += os.pwrite(descriptor, buffer, position)
            done.send(position)

    with _Peer(serve) as peer:
        started = time.perf_counter()
        for _ in range(frames):
            peer.socket.sendall(payload)
        peer.wait()
        return frames * frame_bytes / (time.perf_counter() - started)


def send_file(chunk_bytes: int, total_bytes: int, folder: Path) -> float:
    """Return bytes per second of a page-cached file sent to a socket, the faster of two ways."""
    return max(
        _send_file(chunk_bytes, total_bytes, folder, way) for way in (_with_sendfile, _with_pread)
    )


def _send_file(
    chunk_bytes: int,
    total_bytes: int,
    folder: Path,
    way: Callable[[socket.socket, int, int, int], int],
) -> float:
    chunks = total_bytes // chunk_bytes
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(os.urandom(chunk_bytes * 64))
        file.flush()

        def serve(listener: socket.socket, done: Connection) -> None:
            connection, _ = listener.accept()
            descriptor = os.open(file.name, os.O_RDONLY)
            for chunk in range(chunks):
                position, end = chunk % 64 * chunk_bytes, (chunk % 64 + 1) * chunk_bytes
                while position < end:
                    position += way(connection, descriptor, position, end - position)
            done.send(chunks)

        with _Peer(serve) as peer:
            buffer = memoryview(bytearray(chunk_bytes))
            started = time.perf_counter()
            for _ in range(chunks):
                filled = 0
                while filled < chunk_bytes:
                    filled += peer.socket.recv_into(buffer[filled:])
            elapsed = time.perf_counter() - started
            peer.wait()
            return chunks * chunk_bytes / elapsed


def _with_sendfile(connection: socket.socket, descriptor: int, position: int, size: int) -> int:
    return os.sendfile(connection.fileno(), descriptor, position, size)


def _with_pread(connection: socket.socket, descriptor: int, position: int, size: int) -> int:
    connection.sendall(os.pread(descriptor, size, position))
    return size


class _Peer:
    """A process that serves one loopback connection."""

    def __init__(self, serve: Callable[[socket.socket, Connection], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._done, far = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=serve, args=(self._listener, far))

    def __enter__(self) -> "_Peer":
        self._process.start()
        self.socket = socket.create_connection(self._listener.getsockname())
        return self

    def wait(self) -> None:
        """Wait until the peer has handled everything."""
        if not self._done.poll(60):
            raise TimeoutError("the floor's peer did not finish within 60 s")
        self._done.recv()

    def __exit__(self, *error: object) -> None:
        self.socket.close()
        self._listener.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
