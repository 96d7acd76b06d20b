"""``ballast zookeeper``: one ZooKeeper server in a pod, with the process that watches over it."""

import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import uvloop

from ballast.cli.embedded.errors import JavaMissing
from ballast.cli.embedded.zookeeper import find_jars, find_java
from ballast.cli.servers import directory_lock
from ballast.cli.servers.long_running import EXIT_BAD_CONFIGURATION, EXIT_FAILED, stop_signals
from ballast.ensemble.folder import MemberFolder
from ballast.ensemble.member import Member
from ballast.ensemble.settings import Addresses, server_id_of
from ballast.net.logs import log_to

log = logging.getLogger(__name__)

_PORTS: Final = ("client_port", "peer_port", "election_port", "http_port")

EXIT_IN_USE: Final = 1
LOCK_WAIT_S: Final = 300.0
"""Time to wait for the end of another process on the data directory, for example of a pod that was
deleted by force. ZooKeeper itself does not lock its data directory."""
MAIN_CLASS: Final = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

LOGGING: Final = ("log4j-api-*", "log4j-core-*", "log4j-slf4j2-impl-*")
"""Without these jars ZooKeeper says nothing."""

QUORUM: Final = (
    "netty-buffer-*",
    "netty-common-*",
    "netty-handler-[0-9]*",
    "netty-resolver-[0-9]*",
    "netty-transport-[0-9]*",
    "commons-io-*",
)
"""What the classes of an ensemble's member link to, TLS or not."""


def main(
    *,
    data_dir: Path,
    replicas_file: Path | None,
    heap_percentage: int,
    host_pattern: str,
    ports: str = "2181,2888,3888,8080",
    is_listening_everywhere: bool = True,
) -> int:
    """Run a server: 0 after a stop, 1 when it or its disk fails, 2 when it is misconfigured.

    The ordinal at the end of POD_NAME identifies the server. ``replicas_file`` holds the number of
    servers that the ensemble should have, 1 without it; ``ports`` are those of clients, peers,
    elections and HTTP, the same on every host of the pattern.
    """
    try:
        places = _addresses(host_pattern, ports, is_listening_everywhere)
        server_id = server_id_of(os.environ.get("POD_NAME", ""))
        jars = [*find_jars(), *find_jars((*LOGGING, *QUORUM))]
        java = find_java()
        replicas = _replicas(replicas_file)
        replicas()
    except (JavaMissing, OSError, ValueError) as error:
        print(f"ballast zookeeper: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION

    def server_command(config: Path, super_digest: str) -> Sequence[str]:
        return command(java, jars, config, super_digest, heap_percentage=heap_percentage)

    log_to(sys.stderr)
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        lock = directory_lock.hold(data_dir, LOCK_WAIT_S, time.sleep)
    except directory_lock.DirectoryInUse as error:
        print(f"ballast zookeeper: {error}", file=sys.stderr)
        return EXIT_IN_USE
    folder = MemberFolder(data_dir, server_id, places.server(server_id), places.client_port)
    member = Member(places, folder, server_id, replicas, server_command, lock)
    try:
        return uvloop.run(_run(member))
    except Exception:
        log.exception("the process ends because of an error")
        return EXIT_FAILED


def _addresses(host_pattern: str, ports: str, is_listening_everywhere: bool) -> Addresses:
    numbers = [int(number) for number in ports.split(",")]
    if len(numbers) != len(_PORTS):
        raise ValueError(f"--ports {ports!r} must be {len(_PORTS)} numbers")
    return Addresses(
        host_pattern=host_pattern,
        is_listening_everywhere=is_listening_everywhere,
        **dict(zip(_PORTS, numbers, strict=True)),
    )


async def _run(member: Member) -> int:
    return await member.run(stop_signals())


def _replicas(path: Path | None) -> Callable[[], int]:
    """Return what reads the number of servers; it raises `OSError` and `ValueError`."""
    if path is None:
        return lambda: 1
    return lambda: int(path.read_text())


def command(
    java: str, jars: Sequence[Path], config: Path, super_digest: str, *, heap_percentage: int
) -> list[str]:
    """Return the server's command line; its heap is a part of the container's memory."""
    return [
        java,
        f"-XX:MaxRAMPercentage={heap_percentage}",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dlog4j2.level=WARN",
        # Only the parent process knows this password, so only it can reconfigure the ensemble.
        f"-Dzookeeper.DigestAuthenticationProvider.superDigest={super_digest}",
        "-cp",
        ":".join(str(jar) for jar in jars),
        MAIN_CLASS,
        str(config),
    ]
