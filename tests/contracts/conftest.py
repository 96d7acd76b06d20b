"""The fixture ``backend``: each contract test runs on the fake and on the real ZooKeeper."""

import asyncio
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ballast.cli.embedded import zookeeper
from tests.contracts.backends import Backend, FakeBackend, RealBackend


@pytest.fixture(scope="session")
def zookeeper_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Start a real ZooKeeper on a free port of the loopback, for all tests of this worker."""
    folder: Path = tmp_path_factory.mktemp("zookeeper")
    with socket.socket() as probe:
        probe.bind((zookeeper.HOST, 0))
        port: int = probe.getsockname()[1]
    argv = zookeeper.command(folder, port=port, is_durable=False)
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process,
    ):
        try:
            asyncio.run(zookeeper.wait_until_serving(port))
            yield port
        finally:
            process.kill()


@pytest.fixture(params=["fake", "real"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "fake":
        return FakeBackend()
    return RealBackend(request.getfixturevalue("zookeeper_port"))
