"""Two real broker processes on one directory: the second refuses before it changes anything.

With processes of the operating system because the lock is the kernel's: it must hold while its
owner is stopped, and be gone when its owner is killed.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from ballast.cli.embedded.workload import Workload
from tests.interop.local_cluster import RunningCluster, environment, running_cluster
from tests.interop.ports import free_port

TOPIC = "kept"
RECORD_BYTES = 200
END_TIMEOUT_S = 60


def second_broker(cluster: RunningCluster, lock_timeout_ms: int) -> subprocess.Popen[str]:
    """Start broker 1 once more, on the same directory and on ports of its own."""
    overrides = {
        "listeners": f"PLAINTEXT://127.0.0.1:{free_port()}",
        "ballast.http.listener": f"127.0.0.1:{free_port()}",
        "ballast.log.dir.lock.timeout.ms": str(lock_timeout_ms),
    }
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "ballast", "broker"),
            str(cluster.directory / "config" / "broker-1.properties"),
            *(f"--override={name}={value}" for name, value in overrides.items()),
        ],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )


def all_files(directory: Path) -> dict[str, tuple[int, bytes]]:
    """Return when each file was last changed, and what it holds."""
    return {
        str(path.relative_to(directory)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def pid_of_another(cluster: RunningCluster, killed: int | None = None) -> int:
    """Return the broker's process once the supervisor has started one that is not ``killed``."""
    deadline = time.monotonic() + END_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError, ValueError):
            if (pid := cluster.pid("broker-1")) != killed:
                return pid
        time.sleep(0.05)
    raise AssertionError("broker 1 is not started again")


def kill_beside_a_second(cluster: RunningCluster, lock_timeout_ms: int) -> None:
    """Kill the broker while a second one starts or waits, and kill that one a while later.

    The second competes with the one that the supervisor starts in the killed one's place.
    """
    second = second_broker(cluster, lock_timeout_ms)
    killed = pid_of_another(cluster)
    os.kill(killed, signal.SIGKILL)
    pid_of_another(cluster, killed)
    with contextlib.suppress(subprocess.TimeoutExpired):
        second.communicate(timeout=3)
    second.kill()
    second.communicate()


def test_nothing_is_lost_by_a_second_process(tmp_path: Path) -> None:
    with running_cluster(tmp_path, "--brokers", "1") as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        workload = Workload(cluster.bootstrap_servers, TOPIC, 1, record_bytes=RECORD_BYTES)
        workload.preload(1_000_000)
        data = cluster.directory / "data" / "broker-1"

        # The owner of the lock is stopped, so that whatever changes now is the second's doing.
        cluster.signal("broker-1", signal.SIGSTOP)
        before = all_files(data)
        second = second_broker(cluster, lock_timeout_ms=0)
        _, said = second.communicate(timeout=END_TIMEOUT_S)
        assert all_files(data) == before
        cluster.signal("broker-1", signal.SIGCONT)
        assert second.returncode == 1
        assert f"Failed to acquire lock on file .lock in {data}" in said

        workload.start(records_per_second=500)
        try:
            for lock_timeout_ms in (0, 30_000, 30_000):
                kill_beside_a_second(cluster, lock_timeout_ms)
        except BaseException:
            workload.abandon()
            raise
        workload.stop()
        verdict = workload.verify()
        assert (verdict.lost, verdict.acknowledged) == (0, workload.written)
