"""Addresses that no other worker of the test run uses."""

import os
import socket

import pytest

_PORTS = 4


@pytest.fixture
def worker_number() -> int:
    """Return the number of this pytest worker, 0 without workers."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


@pytest.fixture
def free_ports() -> int:
    """Return the first of four neighbouring ports that are free on the loopback."""
    for first in range(21000, 29000, _PORTS):
        sockets = [socket.socket() for _ in range(_PORTS)]
        try:
            for offset, probe in enumerate(sockets):
                probe.bind(("", first + offset))
        except OSError:
            continue
        else:
            return first
        finally:
            for probe in sockets:
                probe.close()
    raise AssertionError("no free ports")
