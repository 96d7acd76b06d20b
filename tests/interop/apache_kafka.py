"""A real Apache Kafka with ZooKeeper as child processes, from the jars that Maven fetches."""

import asyncio
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ballast.cli.embedded import zookeeper
from tests.interop.kafka_jars import kafka_jars
from tests.interop.ports import free_port

START_TIMEOUT_S = 90
STARTED = re.compile(r"\] started \(kafka\.server\.KafkaServer\)|KafkaServer id=\d+\] started")

_LOG4J = """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%p %m (%c)%n
"""


@dataclass(frozen=True)
class ApacheKafka:
    """A running cluster; broker N is ``bootstrap_servers``' Nth."""

    directory: Path
    bootstrap_servers: str


@contextmanager
def apache_kafka(
    version: str, directory: Path, brokers: int, settings: str = ""
) -> Iterator[ApacheKafka]:
    """Run a cluster until the block ends; skip the test where Kafka cannot be had.

    ``settings`` are further lines of each broker's properties.
    """
    jars = kafka_jars(version)
    (directory / "log4j.properties").write_text(_LOG4J)
    java = [
        *(shutil.which("java") or "java", "-Xmx256m", "-XX:+UseSerialGC"),
        *("-XX:TieredStopAtLevel=1", f"-Dlog4j.configuration=file:{directory}/log4j.properties"),
        *("-cp", f"{jars}/*", "kafka.Kafka"),
    ]
    port = free_port()
    ports = [free_port() for _ in range(brokers)]
    with ExitStack() as stack:
        stack.enter_context(
            _running(
                zookeeper.command(directory / "zookeeper", port=port, is_durable=False),
                directory / "zookeeper.log",
            )
        )
        asyncio.run(zookeeper.wait_until_serving(port))
        for broker_id, listener in enumerate(ports, start=1):
            properties = directory / f"broker-{broker_id}.properties"
            properties.write_text(
                f"broker.id={broker_id}\n"
                f"listeners=PLAINTEXT://127.0.0.1:{listener}\n"
                f"zookeeper.connect=127.0.0.1:{port}\n"
                f"log.dirs={directory}/data-{broker_id}\n"
                f"{settings}"
            )
            stack.enter_context(
                _running([*java, str(properties)], directory / f"broker-{broker_id}.log")
            )
        for broker_id in range(1, brokers + 1):
            _wait_until_started(directory / f"broker-{broker_id}.log")
        running = ApacheKafka(directory, ",".join(f"127.0.0.1:{listener}" for listener in ports))
        _wait_until_known(running, ports)
        yield running


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[None]:
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        ) as process,
    ):
        try:
            yield
        finally:
            process.kill()


def _wait_until_started(log: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not STARTED.search(log.read_text()):
        assert time.monotonic() < deadline, f"not started, see {log}"
        time.sleep(0.1)


def _wait_until_known(running: ApacheKafka, ports: list[int]) -> None:
    """Wait until each broker has heard of all of them, and of the controller.

    A client that asks sooner learns of no controller, and may wait long before it asks again.
    """
    deadline = time.monotonic() + START_TIMEOUT_S
    for port in ports:
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        while not _knows_all(admin, len(ports)):
            assert time.monotonic() < deadline, f"not all are known, see {running.directory}"
            time.sleep(0.1)


def _knows_all(admin: AdminClient, brokers: int) -> bool:
    try:
        view = admin.list_topics(timeout=10)
    except KafkaException:
        return False
    return len(view.brokers) == brokers and view.controller_id in view.brokers
