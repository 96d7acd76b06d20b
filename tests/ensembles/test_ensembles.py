"""Real ZooKeeper servers grow in number, lose disks and start in any order: no write is lost."""

import asyncio
import itertools
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kazoo.exceptions import KazooException, NodeExistsError
from kazoo.handlers.threading import KazooTimeoutError

from ballast.cli.embedded.zookeeper import find_jars, find_java, wait_until_serving
from ballast.cli.servers.zookeeper import LOGGING, MAIN_CLASS, QUORUM
from ballast.ensemble.decisions import Disk
from tests.ensembles.servers import READY_TIMEOUT_S, Servers, eventually

pytestmark = pytest.mark.timeout(400)


class Writer:
    """Makes znodes one after another, on whichever server answers, and notes those acknowledged."""

    def __init__(self, servers: Servers) -> None:
        self.acknowledged: list[int] = []
        self._client = servers.client()
        self._ending = threading.Event()
        self._client.ensure_path("/written")
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def _write(self) -> None:
        for number in itertools.count():
            while not self._ending.is_set():
                try:
                    self._client.create(f"/written/{number:08d}", b"%d" % number)
                except NodeExistsError:
                    break  # Its first try was carried out, though no answer came.
                except (KazooException, KazooTimeoutError):
                    continue
                break
            if self._ending.is_set():
                return
            self.acknowledged.append(number)

    def wait_for_more(self, count: int = 50) -> None:
        """Return once so many more znodes have been acknowledged."""
        goal = len(self.acknowledged) + count
        eventually("more writes", lambda: len(self.acknowledged) >= goal)

    def close(self) -> None:
        self._ending.set()
        self._thread.join(timeout=60)
        self._client.stop()
        self._client.close()


@pytest.fixture
def servers(tmp_path: Path, free_ports: int, worker_number: int) -> Iterator[Servers]:
    made = Servers(tmp_path, 100 + worker_number, free_ports)
    try:
        yield made
    finally:
        made.close()


def written(client: Any) -> set[int]:
    client.sync("/")
    return {int(name) for name in client.get_children("/written")}


def test_an_ensemble_that_grows_loses_no_write(servers: Servers) -> None:
    servers.start(0)
    asyncio.run(servers.wait_for_voters(1))
    writer = Writer(servers)
    try:
        for count in (3, 5):
            writer.wait_for_more()
            servers.set_replicas(count)
            servers.start(count - 2, count - 1)
            asyncio.run(servers.wait_for_voters(count))
        writer.wait_for_more()
    finally:
        writer.close()
    servers.kill(0, 1, 2, 3, 4)
    servers.start(4, 3, 2, 1, 0)
    asyncio.run(servers.wait_for_voters(5))
    for ordinal in (0, 4):
        assert written(servers.client(ordinal)) >= set(writer.acknowledged)
    assert "ballast_zookeeper_voters 5.0" in servers.metrics(2)
    assert servers.stop(3) == 0


def test_servers_with_empty_disks_form_no_ensemble_without_the_first(servers: Servers) -> None:
    servers.start(0)
    asyncio.run(servers.wait_for_voters(1))
    servers.client(0).create("/kept", b"data")
    servers.kill(0)
    servers.set_replicas(3)
    servers.start(1, 2)
    for ordinal in (1, 2):
        eventually("a look at the others", partial(servers.is_waiting, ordinal))
    assert {report.disk for report in servers.reports(3).values()} == {Disk.EMPTY}
    servers.start(0)
    asyncio.run(servers.wait_for_voters(3))
    assert servers.client(2).get("/kept")[0] == b"data"


def test_a_server_that_lost_its_disk_does_not_vote_before_it_has_copied_the_data(
    servers: Servers,
) -> None:
    servers.set_replicas(3)
    servers.start(0, 1, 2)
    asyncio.run(servers.wait_for_voters(3))
    servers.client().create("/kept", b"data")
    servers.kill(0, 1, 2)
    servers.empty_disk(0)
    servers.start(0, 1)
    # Two of three would be a majority, but only one of them remembers what it has acknowledged.
    eventually("a look at the others", partial(servers.is_waiting, 0))
    eventually("the second server", lambda: bool(servers.answer(1)))
    eventually("both reports", lambda: len(servers.reports(2)) == 2)
    found = servers.reports(2)
    assert [(report.disk, report.mode) for report in found.values()] == [
        (Disk.EMPTY, ""),
        (Disk.MEMBER, ""),
    ]
    servers.start(2)
    asyncio.run(servers.wait_for_voters(3))
    assert servers.client(0).get("/kept")[0] == b"data"


@pytest.mark.parametrize("members", [1, 3])
def test_data_of_servers_without_a_list_that_changes_is_kept(
    servers: Servers, members: int
) -> None:
    """The releases before had the list in the configuration, or, for one server, none."""
    places = servers.addresses
    java = find_java()
    jars = ":".join(str(jar) for jar in (*find_jars(), *find_jars((*LOGGING, *QUORUM))))
    before = []
    for ordinal in range(members):
        disk = servers.disk(ordinal)
        disk.mkdir()
        host = places.host(ordinal + 1)
        lines = [
            "tickTime=1000",
            f"dataDir={disk}",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr,ruok,mntr",
        ]
        if members == 1:
            lines += [f"clientPort={places.client_port}", f"clientPortAddress={host}"]
        else:
            lines += ["initLimit=20", "syncLimit=10"]
            lines += [f"server.{n}={places.server(n)}" for n in range(1, members + 1)]
        (disk / "zoo.cfg").write_text("\n".join((*lines, "")))
        (disk / "myid").write_text(f"{ordinal + 1}\n")
        argv = (java, "-Xmx64m", "-cp", jars, MAIN_CLASS, str(disk / "zoo.cfg"))
        before.append(servers.run_beside(argv))
    host = places.host(1)
    asyncio.run(wait_until_serving(places.client_port, timeout_s=READY_TIMEOUT_S, host=host))
    servers.client(0).create("/kept", b"data")
    servers.set_replicas(3)
    # As a StatefulSet does it: the last pods first, each ready before the one before is replaced.
    for ordinal in reversed(range(3)):
        if ordinal < members:
            before[ordinal].kill()
            before[ordinal].wait()
        servers.start(ordinal)
        eventually("readiness", partial(servers.is_ready, ordinal))
    asyncio.run(servers.wait_for_voters(3))
    assert servers.client(2).get("/kept")[0] == b"data"
