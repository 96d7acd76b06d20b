"""ZooKeeper's configuration as text: the static part, and the list of servers that it may change.

The list is in a file of its own, one line a server (ZooKeeper's reconfiguration guide, 3.9):

    server.1=host:2888:3888:participant;2181
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

TICK_TIME_MS: Final = 1_000
MAX_SESSION_TIMEOUT_S: Final = 300
"""What a BrokerSet may ask for at most (``spec.zookeeper.sessionTimeoutSeconds``)."""

FOUR_LETTER_WORDS: Final = ("srvr", "ruok", "mntr")

_SERVER: Final = re.compile(r"server\.([0-9]+)=([^;\s]+)(?:;(\S+))?")
_ROLES: Final = ("participant", "observer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where members are: the same ports on every host, and hosts that differ by an ordinal."""

    host_pattern: str
    """A host name with ``{ordinal}`` in it."""
    client_port: int = 2181
    peer_port: int = 2888
    election_port: int = 3888
    http_port: int = 8080
    """Of the process beside the server: its report, probes and metrics."""
    is_listening_everywhere: bool = True
    """Whether a member listens on every address; else only on its host's, which must be one."""

    def __post_init__(self) -> None:
        if "{ordinal}" not in self.host_pattern:
            raise ValueError(f"the host pattern {self.host_pattern!r} has no {{ordinal}}")

    def host(self, server_id: int) -> str:
        """Return a member's host; its ordinal is its id less one."""
        return self.host_pattern.replace("{ordinal}", str(server_id - 1))

    def server(self, server_id: int) -> str:
        """Return the value of a member's ``server.<id>``, as a voter."""
        host = self.host(server_id)
        client = str(self.client_port)
        if not self.is_listening_everywhere:
            client = f"{host}:{client}"
        return f"{host}:{self.peer_port}:{self.election_port}:participant;{client}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerList:
    """The servers of an ensemble, at one version."""

    servers: Mapping[int, str]
    """By id: the value of ``server.<id>``."""
    version: int = 0
    """The transaction that committed it; 0 for a list that was never committed."""

    @property
    def ids(self) -> frozenset[int]:
        """The members' ids."""
        return frozenset(self.servers)

    @property
    def text(self) -> str:
        """The list's file."""
        lines = [f"server.{number}={self.servers[number]}" for number in sorted(self.servers)]
        return "\n".join((*lines, ""))

    def with_observer(self, server_id: int, server: str) -> "ServerList":
        """Return what a server starts with that is to join, with itself as an observer.

        It finds the leader through the others, and cannot form a quorum with other new servers; the
        leader gives it the true list, in which it is absent until the ensemble has admitted it.
        """
        observer = server.replace(":participant", ":observer")
        return ServerList(servers={**self.servers, server_id: observer})


def read_servers(lines: Iterable[str], client_port: int) -> dict[int, str]:
    """Return the servers that a configuration names; those without role or client port get them."""
    servers = {}
    for line in lines:
        if match := _SERVER.fullmatch(line.strip()):
            address, client = match[2], match[3] or str(client_port)
            if not address.endswith(_ROLES):
                address += ":participant"
            servers[int(match[1])] = f"{address};{client}"
    return servers


def static_text(data_dir: str, list_file: str, *, is_listening_everywhere: bool) -> str:
    """Return the text of ``zoo.cfg``; the client port is in the list of servers."""
    return "\n".join(
        (
            f"tickTime={TICK_TIME_MS}",
            f"minSessionTimeout={2 * TICK_TIME_MS}",
            f"maxSessionTimeout={MAX_SESSION_TIMEOUT_S * 1000}",
            f"dataDir={data_dir}",
            "admin.enableServer=false",
            f"4lw.commands.whitelist={','.join(FOUR_LETTER_WORDS)}",
            "maxClientCnxns=1000",
            "autopurge.snapRetainCount=3",
            "autopurge.purgeInterval=1",
            "initLimit=20",
            "syncLimit=10",
            # One server is an ensemble of one: it takes learners, and can be reconfigured.
            "standaloneEnabled=false",
            "reconfigEnabled=true",
            # A member's own name resolves only once its pod is ready.
            f"quorumListenOnAllIPs={str(is_listening_everywhere).lower()}",
            f"dynamicConfigFile={list_file}",
            "",
        )
    )


def server_id_of(pod_name: str) -> int:
    """Return a server's id: its pod's ordinal + 1; raises `ValueError` without an ordinal."""
    ordinal = pod_name.rpartition("-")[2]
    if not ordinal.isascii() or not ordinal.isdigit():
        raise ValueError(f"POD_NAME {pod_name!r} does not end in an ordinal")
    return int(ordinal) + 1
