"""The process beside a server; with real servers it is in tests/ensembles."""

import asyncio
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from ballast.ensemble import asking
from ballast.ensemble.decisions import Disk, Report
from ballast.ensemble.folder import MemberFolder
from ballast.ensemble.member import Member
from ballast.ensemble.settings import Addresses


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def member_of(tmp_path: Path, server_id: int, started: list[str]) -> tuple[Member, Addresses]:
    places = Addresses(
        host_pattern="127.0.0.{ordinal}",
        client_port=free_port(),
        http_port=free_port(),
        is_listening_everywhere=False,
    )

    def command(config: Path, super_digest: str) -> Sequence[str]:
        started.append(f"{config.name} {super_digest.partition(':')[0]}")
        return (sys.executable, "-c", "raise SystemExit(3)")

    folder = MemberFolder(tmp_path / "data", server_id, places.server(server_id), 2181)
    return Member(places, folder, server_id, lambda: 3, command), places


async def test_a_server_that_ends_ends_the_process(tmp_path: Path) -> None:
    started: list[str] = []
    member, places = member_of(tmp_path, 2, started)
    folder = MemberFolder(tmp_path / "data", 2, places.server(2), 2181)
    (tmp_path / "data" / "version-2").mkdir(parents=True)
    (tmp_path / "data" / "version-2" / "snapshot.0").write_text("")
    assert folder.look()[0] is Disk.MEMBER
    assert await member.run(asyncio.Event()) == 1
    assert started == ["zoo.cfg super"]


async def test_a_server_that_waits_says_why_and_can_be_stopped(tmp_path: Path) -> None:
    started: list[str] = []
    member, places = member_of(tmp_path, 2, started)
    stopped = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(member.run(stopped))
        found: dict[int, Report] = {}
        while not found:
            found = await asking.reports(places, (2,))
        assert found == {2: Report(server_id=2, disk=Disk.EMPTY)}
        stopped.set()
    assert running.result() == 0
    assert started == []
