"""What is on a member's disk: ZooKeeper's data, its configuration, and its list of servers."""

import os
import shutil
from pathlib import Path
from typing import Final

from ballast.ensemble.decisions import Disk
from ballast.ensemble.settings import ServerList, read_servers, static_text

CONFIG: Final = "zoo.cfg"
LIST_PREFIX: Final = f"{CONFIG}.dynamic."
DATA: Final = "version-2"
COPYING: Final = "copying"
"""This file is there while the server has not yet copied all data from the leader."""

_LIST_SETTING: Final = "dynamicConfigFile="
_NEW: Final = ".new"


class MemberFolder:
    """The data directory of one server. Every method raises `OSError`."""

    def __init__(self, path: Path, server_id: int, server: str, client_port: int) -> None:
        """Take the directory; ``server`` is the value of the server's own ``server.<id>``."""
        self._path = path.resolve()
        self._server_id = server_id
        self._server = server
        self._client_port = client_port

    @property
    def config(self) -> Path:
        """The file that the server is started with."""
        return self._path / CONFIG

    def look(self) -> tuple[Disk, ServerList | None]:
        """Return what the disk says, and the list of servers on it.

        A disk that was written by a server alone, or by one whose list was a part of its
        configuration, is a member's: those servers are its list.
        """
        found = None if (self._path / COPYING).exists() else self._list()
        if found is None:
            return Disk.EMPTY, None
        server = found.servers.get(self._server_id, "")
        return (Disk.MEMBER if ":participant" in server else Disk.OUTSIDE), found

    def prepare(self, servers: ServerList, *, is_listening_everywhere: bool) -> None:
        """Write what the server needs to start with a list.

        An empty disk that is to become a copy is marked as one until `copied`, and what an earlier
        copy has left is removed. The list comes before the configuration that names it, so that a
        crash in between changes nothing.
        """
        self._path.mkdir(parents=True, exist_ok=True)
        is_voter = ":participant" in servers.servers[self._server_id]
        if not is_voter and self.look()[0] is Disk.EMPTY:
            _write(self._path / COPYING, "")
            shutil.rmtree(self._path / DATA, ignore_errors=True)
            for old in self._path.glob(f"{CONFIG}*"):
                old.unlink()
        list_file = self._path / f"{LIST_PREFIX}{servers.version:x}"
        _write(list_file, servers.text)
        _write(self._path / "myid", f"{self._server_id}\n")
        _write(
            self.config,
            static_text(
                str(self._path), str(list_file), is_listening_everywhere=is_listening_everywhere
            ),
        )

    def copied(self) -> None:
        """Note that the server has all data of its leader: its disk is no longer an empty one."""
        (self._path / COPYING).unlink(missing_ok=True)

    def _list(self) -> ServerList | None:
        lines = self.config.read_text().splitlines() if self.config.exists() else []
        for line in lines:
            if line.startswith(_LIST_SETTING):
                path = Path(line.removeprefix(_LIST_SETTING))
                servers = read_servers(path.read_text().splitlines(), self._client_port)
                return ServerList(servers=servers, version=_version(path.name))
        if not any((self._path / DATA).glob("*")):
            return None
        servers = read_servers(lines, self._client_port)
        return ServerList(servers=servers or {self._server_id: self._server})


def _version(name: str) -> int:
    try:
        return int(name.removeprefix(LIST_PREFIX), 16)
    except ValueError:
        return 0


def _write(path: Path, text: str) -> None:
    """Replace a file, so that a crash leaves the old one or the new one."""
    new = path.with_name(path.name + _NEW)
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
