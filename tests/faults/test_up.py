"""``ballast up`` as its user treats it: stopped, killed, interrupted, and started again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from tests.faults import observation
from tests.interop.local_cluster import RunningCluster, environment, running_cluster

TOPIC = "kept"
PARTITIONS = 6
BROKERS = 3

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


@pytest.fixture
def options(tmp_path: Path) -> Iterator[list[str]]:
    """Return the options of a small cluster; nothing of it may be left afterwards."""
    base_port = os.environ.get("BALLAST_BASE_PORT", "44000")
    yield ["--brokers", str(BROKERS), "--base-port", base_port]
    observation.until(lambda: not processes_of(tmp_path), 30, "no process is left behind")


def processes_of(directory: Path) -> list[str]:
    """Return the command lines of live processes that name the cluster's folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(directory) in line and "pytest" not in line:
            found.append(line)
    return sorted(found)


def write(cluster: RunningCluster) -> Workload:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    new = NewTopic(TOPIC, num_partitions=PARTITIONS, replication_factor=3)
    admin.create_topics([new])[TOPIC].result(30)
    workload = Workload(cluster.bootstrap_servers, TOPIC, PARTITIONS)
    workload.preload(10 * 1024 * 1024)
    return workload


def check_kept(workload: Workload) -> None:
    verdict = workload.verify()
    assert (verdict.lost, verdict.duplicated) == (0, 0)
    assert verdict.acknowledged == workload.written


def markers(directory: Path) -> int:
    return len(list(directory.glob("data/broker-*/.kafka_cleanshutdown")))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_quick_and_clean(
    tmp_path: Path, options: list[str], number: signal.Signals
) -> None:
    with running_cluster(tmp_path, *options) as cluster:
        workload = write(cluster)
        started = time.monotonic()
        cluster.process.send_signal(number)
        assert cluster.process.wait(60) == 0
        print(f"    stopped in {time.monotonic() - started:.1f} s")
        assert time.monotonic() - started < 15
    assert markers(tmp_path) == BROKERS
    assert not list((tmp_path / "run").glob("*.pid"))
    assert not processes_of(tmp_path)
    with running_cluster(tmp_path, *options) as cluster:
        check_kept(workload)
        assert markers(tmp_path) == 0


def test_killed_it_leaves_no_orphans_and_starts_again(tmp_path: Path, options: list[str]) -> None:
    with running_cluster(tmp_path, *options) as cluster:
        workload = write(cluster)
        cluster.process.kill()
        cluster.process.wait(10)
    started = time.monotonic()
    with running_cluster(tmp_path, *options) as cluster:
        print(f"    started again in {time.monotonic() - started:.1f} s")
        check_kept(workload)


@pytest.mark.parametrize("name", ["broker-2", "controller-1", "zookeeper"])
def test_a_child_that_dies_is_reported_and_started_again(
    tmp_path: Path, options: list[str], name: str
) -> None:
    with running_cluster(tmp_path, *options) as cluster:
        workload = write(cluster)
        before = cluster.pid(name)
        cluster.signal(name, signal.SIGKILL)
        assert cluster.process.stdout is not None
        line = cluster.process.stdout.readline().strip()
        assert line == f"{name} died (signal SIGKILL); started again in 0.2 s"
        pid = tmp_path / "run" / f"{name}.pid"
        observation.until(lambda: pid.exists() and cluster.pid(name) != before, 10, "it runs again")
        observation.seconds_until_in_sync(cluster, PARTITIONS, 30)
        check_kept(workload)


def test_a_child_that_dies_stays_dead_without_restart(tmp_path: Path, options: list[str]) -> None:
    with running_cluster(tmp_path, *options, "--no-restart") as cluster:
        workload = write(cluster)
        cluster.signal("broker-2", signal.SIGKILL)
        assert cluster.process.stdout is not None
        assert cluster.process.stdout.readline().strip() == "broker-2 died (signal SIGKILL)"
        check_kept(workload)
        assert not (tmp_path / "run" / "broker-2.pid").exists()


@pytest.mark.parametrize("after_s", [0.3, 0.8, 1.5, 2.5])
@pytest.mark.parametrize("times", [1, 2])
def test_interrupted_while_it_starts(
    tmp_path: Path, options: list[str], after_s: float, times: int
) -> None:
    with subprocess.Popen(
        [*(sys.executable, "-m", "ballast", "up", "--dir", str(tmp_path)), *options],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Whoever runs the tests in the background of a shell has them ignore it.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        time.sleep(after_s)
        started = time.monotonic()
        for _ in range(times):
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        try:
            code = process.wait(40)
        finally:
            process.kill()
        assert process.stdout is not None
        said = process.stdout.read()
        print(f"    ended with {code} in {time.monotonic() - started:.1f} s: {said.split()}")
        assert "Traceback" not in said
    assert not processes_of(tmp_path)
