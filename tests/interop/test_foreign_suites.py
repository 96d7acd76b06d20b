"""The test suites of foreign clients pass against Ballast as they do against Kafka.

Run by ``make foreign``, not by ``make test``: they take minutes and are fetched.
"""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults import observation
from tests.interop import foreign_kafka_python, foreign_kgo
from tests.interop.foreign_suites import NEEDED_SHARE, SuiteRun
from tests.interop.local_cluster import (
    START_TIMEOUT_S,
    RunningCluster,
    environment,
    running_cluster,
)
from tests.interop.ports import free_port

pytestmark = [pytest.mark.foreign, pytest.mark.timeout(3600)]

OVERRIDES = (
    *("--override", "group.initial.rebalance.delay.ms=0"),
    *("--override", "group.min.session.timeout.ms=1000"),
)


def check(run: SuiteRun, least: int) -> None:
    """Check that enough has passed, and that enough was there to be run."""
    print(f"\n{run.summary()}", flush=True)
    assert len(run.outcomes) >= least
    assert run.share >= NEEDED_SHARE


@contextmanager
def broker_zero(cluster: RunningCluster, folder: Path) -> Iterator[str]:
    """Put a broker whose id is 0 in the place of the only one, as the tests expect it.

    Return its address. With two, one poll would not bring what both of them have.
    """
    port = free_port()
    overrides = (
        *("--override", "broker.id=0"),
        *("--override", f"listeners=PLAINTEXT://127.0.0.1:{port}"),
        *("--override", f"log.dirs={folder / 'data'}"),
        *("--override", f"ballast.http.listener=127.0.0.1:{free_port()}"),
    )
    properties = cluster.directory / "config" / "broker-1.properties"
    with (
        (folder / "broker-0.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "ballast", "broker", str(properties), *overrides],
            env=environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            observation.until(lambda: is_listening(port), START_TIMEOUT_S, "broker 0 listens")
            replaced = Path(f"/proc/{cluster.pid('broker-1')}")
            cluster.signal("broker-1", signal.SIGTERM)
            observation.until(lambda: not replaced.exists(), START_TIMEOUT_S, "broker 1 ends")
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


def is_listening(port: int) -> bool:
    """Whether somebody takes connections."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def test_kafka_python(tmp_path: Path) -> None:
    single = ("--brokers", "1", "--controllers", "1", "--no-restart")
    with (
        running_cluster(tmp_path / "cluster", *single, *OVERRIDES) as cluster,
        broker_zero(cluster, tmp_path) as server,
    ):
        check(foreign_kafka_python.run(server, tmp_path), least=60)


def test_kgo(tmp_path: Path) -> None:
    with running_cluster(tmp_path / "cluster", "--brokers", "3", *OVERRIDES) as cluster:
        check(foreign_kgo.run(cluster.bootstrap_servers, tmp_path), least=140)
