"""``ballast zookeeper``: one ZooKeeper server in a pod, alone or as a member of an ensemble.

The process becomes Java (``exec``), which then is the container's first and handles SIGTERM.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from ballast.commands import directory_lock
from ballast.embedded.errors import JavaMissing
from ballast.embedded.zookeeper import find_jars, find_java

EXIT_BAD_CONFIGURATION: Final = 2
EXIT_IN_USE: Final = 1
LOCK_WAIT_S: Final = 300.0
"""How long the process of a pod that was deleted by force is waited for: ZooKeeper itself locks its
data directory against nobody."""
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

TICK_TIME_MS: Final = 1_000
"""Sessions last 2 to 60 ticks."""


def main(
    *,
    data_dir: Path,
    client_port: int,
    servers: Sequence[str],
    heap_percentage: int,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Become ZooKeeper; returns only when that cannot be: 2, or 1 for a directory in use.

    ``servers`` are the ensemble's members, ``host:peer-port:election-port``, first that of ordinal
    0; none or one is a server alone. The ordinal is the number at the end of POD_NAME.
    """
    try:
        my_id = member_id((environment or os.environ).get("POD_NAME", ""), len(servers))
        jars = [*find_jars(), *find_jars((*LOGGING, *QUORUM))]
        java = find_java()
    except (JavaMissing, ValueError) as error:
        print(f"ballast zookeeper: {error}", file=sys.stderr)
        return EXIT_BAD_CONFIGURATION
    data_dir.mkdir(parents=True, exist_ok=True)
    try:
        directory_lock.hold(data_dir, LOCK_WAIT_S, time.sleep)
    except directory_lock.DirectoryInUse as error:
        print(f"ballast zookeeper: {error}", file=sys.stderr)
        return EXIT_IN_USE
    config = data_dir / "zoo.cfg"
    config.write_text(configuration(data_dir, client_port=client_port, servers=servers))
    (data_dir / "myid").write_text(f"{my_id}\n")
    os.execv(java, command(java, jars, config, heap_percentage=heap_percentage))  # noqa: S606
    raise AssertionError("exec does not return")


def member_id(pod_name: str, members: int) -> int:
    """Return this server's id: its pod's ordinal + 1; 1 for a server alone.

    Raises `ValueError` when the name has no ordinal below ``members``.
    """
    if members < 2:
        return 1
    ordinal = pod_name.rpartition("-")[2]
    if not ordinal.isascii() or not ordinal.isdigit() or int(ordinal) >= members:
        raise ValueError(f"POD_NAME {pod_name!r} does not end in an ordinal below {members}")
    return int(ordinal) + 1


def configuration(data_dir: Path, *, client_port: int, servers: Sequence[str]) -> str:
    """Return the text of ``zoo.cfg``."""
    lines = [
        f"tickTime={TICK_TIME_MS}",
        f"minSessionTimeout={2 * TICK_TIME_MS}",
        f"maxSessionTimeout={60 * TICK_TIME_MS}",
        f"dataDir={data_dir}",
        f"clientPort={client_port}",
        "admin.enableServer=false",
        "4lw.commands.whitelist=srvr,ruok,mntr",
        "maxClientCnxns=1000",
        "autopurge.snapRetainCount=3",
        "autopurge.purgeInterval=1",
    ]
    if len(servers) > 1:
        # A member's own name resolves only once its pod is ready, so it binds to every address.
        lines += ["initLimit=20", "syncLimit=10", "quorumListenOnAllIPs=true"]
        lines += [f"server.{number}={server}" for number, server in enumerate(servers, 1)]
    return "\n".join((*lines, ""))


def command(java: str, jars: Sequence[Path], config: Path, *, heap_percentage: int) -> list[str]:
    """Return the server's command line; its heap is a part of the container's memory."""
    return [
        java,
        f"-XX:MaxRAMPercentage={heap_percentage}",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Dlog4j2.level=WARN",
        "-cp",
        ":".join(str(jar) for jar in jars),
        MAIN_CLASS,
        str(config),
    ]
