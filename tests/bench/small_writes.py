"""Small writes with acks=all on three brokers: how long each takes, and what it costs them.

librdkafka sends 1,000 records a second, each at once, so that every record is a request of its own
and goes through every hop by itself. The floor is the same way through three processes of blocking
sockets that do no more than they must: append, hand on to two others, which append and confirm.
"""

import multiprocessing
import os
import socket
import statistics
import struct
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from confluent_kafka import Message, Producer

from tests.bench.brokers import BenchCluster
from tests.bench.client import BenchClient
from tests.bench.operations import until_in_sync
from tests.bench.usage import cpu_seconds
from tests.interop.local_cluster import running_cluster

RECORDS = 5_000
PER_SECOND = 1_000
WARM_UP = 1_000
VALUE = bytes(100)
BROKERS = (1, 2, 3)
TOPIC = "small_writes"
ROUNDS = 3
_SIZE = struct.Struct(">i")


def measure(folder: Path) -> dict[str, object]:
    """Return the figure: milliseconds until half of the records are acknowledged."""
    with running_cluster(folder / "small", "--brokers", "3", "--controllers", "1") as running:
        cluster = BenchCluster(running, BenchClient(running.bootstrap_servers.split(",")[0]))
        cluster.create_topic(TOPIC, [BROKERS])
        until_in_sync(cluster, TOPIC)
        pids = [running.pid(f"broker-{broker}") for broker in BROKERS]
        produce(running.bootstrap_servers, TOPIC, WARM_UP)
        taken, costs = [], []
        for _ in range(ROUNDS):
            floor = _floor(folder)
            before = sum(map(cpu_seconds, pids))
            own = produce(running.bootstrap_servers, TOPIC, RECORDS)
            costs.append((sum(map(cpu_seconds, pids)) - before) / RECORDS * 1000)
            taken.append((statistics.median(own), floor, statistics.quantiles(own, n=100)[98]))
        cluster.client.close()
    own_all, floors, worst = zip(*taken, strict=True)
    return {
        "value": round(statistics.median(own_all) * 1000, 3),
        "unit": "ms (p50)",
        "floor": round(statistics.median(floors) * 1000, 3),
        "ratio": round(statistics.median(floor / own for own, floor, _ in taken), 3),
        "p99_ms": round(statistics.median(worst) * 1000, 2),
        "cpu_ms_per_record": round(statistics.median(costs), 3),
    }


def produce(bootstrap_servers: str, topic: str, count: int) -> list[float]:
    """Send records at an even pace; return the seconds that each took to be acknowledged."""
    taken: list[float] = []

    def delivered(sent_at: float, error: object, _: Message) -> None:
        if error is not None:
            raise RuntimeError(f"a record was not taken: {error}")
        taken.append(time.perf_counter() - sent_at)

    producer = Producer(
        {
            "bootstrap.servers": bootstrap_servers,
            "acks": "all",
            "linger.ms": 0,
            "socket.nagle.disable": True,
        }
    )
    producer.list_topics(topic, timeout=30)
    started = time.perf_counter()
    for number in range(count):
        due = started + number / PER_SECOND
        while (left := due - time.perf_counter()) > 0:
            producer.poll(left)
        now = time.perf_counter()
        producer.produce(
            topic, VALUE, partition=0, on_delivery=lambda e, m, sent=now: delivered(sent, e, m)
        )
    producer.flush(60)
    if len(taken) != count:
        raise RuntimeError(f"{len(taken)} of {count} records were acknowledged")
    return taken


def _floor(folder: Path) -> float:
    """Return the seconds that half of the records take through the floor's three processes."""
    followers = [_Stage(folder, []) for _ in range(2)]
    leader = _Stage(folder, [follower.port for follower in followers])
    taken = []
    try:
        with socket.create_connection(("127.0.0.1", leader.port)) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            started = time.perf_counter()
            for number in range(RECORDS // 2):
                pause = started + number / PER_SECOND - time.perf_counter()
                if pause > 0:
                    time.sleep(pause)
                sent_at = time.perf_counter()
                client.sendall(_SIZE.pack(len(VALUE)) + VALUE)
                _read(client, _SIZE.size)
                taken.append(time.perf_counter() - sent_at)
    finally:
        for stage in (leader, *followers):
            stage.end()
    return statistics.median(taken)


class _Stage:
    """A process that appends each record that it gets, hands it on, and confirms it."""

    def __init__(self, folder: Path, next_ports: list[int]) -> None:
        near, far = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_serve, args=(folder, next_ports, far))
        self._process.start()
        self.port: int = near.recv()

    def end(self) -> None:
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()


def _serve(folder: Path, next_ports: list[int], told: Connection) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        told.send(listener.getsockname()[1])
        connection, _ = listener.accept()
    others = [socket.create_connection(("127.0.0.1", port)) for port in next_ports]
    for one in (connection, *others):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with tempfile.TemporaryFile(dir=folder) as file:
        while head := _read(connection, _SIZE.size):
            record = _read(connection, *_SIZE.unpack(head))
            os.write(file.fileno(), record)
            for other in others:
                other.sendall(head + record)
            for other in others:
                _read(other, _SIZE.size)
            connection.sendall(head)


def _read(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes, or none at the connection's end."""
    read = b""
    while len(read) < size:
        part = connection.recv(size - len(read))
        if not part:
            return b""
        read += part
    return read
