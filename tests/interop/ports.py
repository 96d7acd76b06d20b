"""Ports for the processes that tests start: free, and no other test's at the same time."""

import fcntl
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ballast.cli.embedded.layout import ClusterLayout

CLAIMS = Path(tempfile.gettempdir()) / "ballast-test-ports"


def free_port() -> int:
    """Return a port that is free by now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def port_range() -> Iterator[int]:
    """Hold a base port such that the ports a cluster of up to five brokers uses are free.

    No other process that takes its ports here gets the same meanwhile. It lies below the ports
    that the system gives to outgoing connections.
    """
    CLAIMS.mkdir(exist_ok=True)
    chance = random.SystemRandom()
    while True:
        base = chance.randrange(12_000, 32_000, 200)
        with (CLAIMS / str(base)).open("w") as claim, suppress(BlockingIOError):
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            layout = ClusterLayout(
                directory=Path(), brokers=5, controllers=3, base_port=base, overrides={}
            )
            if all(_is_free(port) for port in layout.ports):
                yield base
                return


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False
