"""What a server's disk says, and what is written before it starts."""

from pathlib import Path

import pytest

from ballast.ensemble.decisions import Disk
from ballast.ensemble.folder import COPYING, DATA, MemberFolder
from ballast.ensemble.settings import Addresses, ServerList

PLACES = Addresses(host_pattern="zk-{ordinal}")
ONE = ServerList(servers={1: PLACES.server(1)})
THREE = ServerList(servers={n: PLACES.server(n) for n in (1, 2, 3)}, version=0x100000003)


def folder_of(path: Path, server_id: int = 1) -> MemberFolder:
    return MemberFolder(path / "data", server_id, PLACES.server(server_id), 2181)


def prepare(folder: MemberFolder, servers: ServerList) -> None:
    folder.prepare(servers, is_listening_everywhere=True)


def write_data(path: Path) -> Path:
    data = path / "data" / DATA
    data.mkdir(parents=True, exist_ok=True)
    (data / "snapshot.0").write_text("")
    return data


def test_a_disk_without_anything_is_empty(tmp_path: Path) -> None:
    assert folder_of(tmp_path).look() == (Disk.EMPTY, None)
    assert not (tmp_path / "data").exists()


def test_a_member_finds_its_list_again(tmp_path: Path) -> None:
    prepare(folder_of(tmp_path, 2), THREE)
    assert folder_of(tmp_path, 2).look() == (Disk.MEMBER, THREE)
    assert (tmp_path / "data" / "myid").read_text() == "2\n"


def test_a_server_that_copies_has_an_empty_disk_until_it_is_done(tmp_path: Path) -> None:
    data = write_data(tmp_path)
    (tmp_path / "data" / COPYING).write_text("")
    folder = folder_of(tmp_path, 2)
    prepare(folder, ONE.with_observer(2, PLACES.server(2)))
    assert not data.exists(), "half a copy is not begun from"
    assert folder.look()[0] is Disk.EMPTY
    folder.copied()
    disk, servers = folder.look()
    assert disk is Disk.OUTSIDE
    assert servers is not None
    assert servers.version == 0


def test_a_copy_that_is_complete_is_kept(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 2)
    prepare(folder_of(tmp_path, 1), ONE)
    data = write_data(tmp_path)
    assert folder.look()[0] is Disk.OUTSIDE
    prepare(folder, THREE.with_observer(2, PLACES.server(2)))
    assert data.exists()
    assert folder.look()[0] is Disk.OUTSIDE


def test_data_of_a_server_alone_is_a_members(tmp_path: Path) -> None:
    write_data(tmp_path)
    (tmp_path / "data" / "zoo.cfg").write_text("tickTime=1000\nclientPort=2181\n")
    assert folder_of(tmp_path).look() == (Disk.MEMBER, ONE)


def test_data_of_an_ensemble_of_before_has_the_list_of_its_configuration(tmp_path: Path) -> None:
    write_data(tmp_path)
    lines = "\n".join(f"server.{n}=zk-{n - 1}:2888:3888" for n in (1, 2, 3))
    (tmp_path / "data" / "zoo.cfg").write_text(lines)
    disk, servers = folder_of(tmp_path, 3).look()
    assert disk is Disk.MEMBER
    assert servers == ServerList(servers=THREE.servers)


def test_a_configuration_without_data_and_list_is_an_empty_disk(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "zoo.cfg").write_text("server.1=zk-0:2888:3888\n")
    assert folder_of(tmp_path).look() == (Disk.EMPTY, None)


@pytest.mark.parametrize("name", ["zoo.cfg.dynamic.100000003", "zoo.cfg.dynamic.odd"])
def test_the_version_of_a_list_is_in_its_files_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "data" / name
    path.parent.mkdir()
    path.write_text(THREE.text)
    (tmp_path / "data" / "zoo.cfg").write_text(f"dynamicConfigFile={path}\n")
    servers = folder_of(tmp_path).look()[1]
    assert servers is not None
    assert servers.version == (0 if "odd" in name else THREE.version)
