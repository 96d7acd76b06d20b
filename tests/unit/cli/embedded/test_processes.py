import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from ballast.cli.embedded.processes import RESTART_DELAY_MIN_S, ChildSpec, Supervisor


def spec(folder: Path, script: str) -> ChildSpec:
    return ChildSpec(
        name="child",
        argv=("/bin/sh", "-c", script),
        pid_path=folder / "run" / "child.pid",
        log_path=folder / "logs" / "child.log",
        environment=os.environ,
    )


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_child_has_pid_file_and_log(tmp_path: Path) -> None:
    child = spec(tmp_path, "echo hello; exec sleep 60")
    async with Supervisor(restart=False, report=print) as supervisor:
        await supervisor.start(child)
        assert int(child.pid_path.read_text()) == supervisor.child("child").pid
        await eventually(lambda: child.log_path.read_text() == "hello\n")
        await supervisor.stop("child")
        assert not child.pid_path.exists()
        assert not supervisor.child("child").is_alive


async def test_dead_child_is_reported_and_started_again(tmp_path: Path) -> None:
    reports: list[str] = []
    child = spec(tmp_path, "exec sleep 60")
    async with Supervisor(restart=True, report=reports.append) as supervisor:
        first = (await supervisor.start(child)).pid
        os.kill(first, signal.SIGKILL)
        await eventually(lambda: supervisor.child("child").pid != first)
        assert int(child.pid_path.read_text()) == supervisor.child("child").pid
    assert reports == ["child died (signal SIGKILL); started again in 0.2 s"]


async def test_dead_child_stays_dead_without_restart(tmp_path: Path) -> None:
    reports: list[str] = []
    child = spec(tmp_path, "exit 3")
    async with Supervisor(restart=False, report=reports.append) as supervisor:
        await supervisor.start(child)
        await eventually(lambda: bool(reports))
        assert not child.pid_path.exists()
    assert reports == ["child died (exit code 3)"]


async def test_dead_child_that_is_stopped_is_not_started_again(tmp_path: Path) -> None:
    reports: list[str] = []
    child = spec(tmp_path, "echo run >&2; exit 3")
    async with Supervisor(restart=True, report=reports.append) as supervisor:
        await supervisor.start(child)
        await eventually(lambda: bool(reports))
        await supervisor.stop("child")
        await asyncio.sleep(2 * RESTART_DELAY_MIN_S)
        assert not supervisor.child("child").is_alive
        assert child.log_path.read_text() == "run\n"


async def test_child_that_ignores_the_request_to_stop_is_killed(tmp_path: Path) -> None:
    reports: list[str] = []
    child = spec(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    async with Supervisor(restart=True, report=reports.append) as supervisor:
        await supervisor.start(child)
        await eventually(lambda: child.log_path.read_text() == "ready\n")
        await supervisor.stop("child", grace_s=0.2)
        assert not supervisor.child("child").is_alive
    assert reports == ["child did not end within 0.2 s and is killed"]


async def test_leaving_the_supervisor_leaves_no_child(tmp_path: Path) -> None:
    async with Supervisor(restart=True, report=print) as supervisor:
        pid = (await supervisor.start(spec(tmp_path, "exec sleep 60"))).pid
    assert not Path(f"/proc/{pid}").exists()
