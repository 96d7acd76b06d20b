"""What ``ballast zookeeper`` writes and becomes."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

from ballast.commands import zookeeper

THREE = ("a-0.a:2888:3888", "a-1.a:2888:3888", "a-2.a:2888:3888")


class Became(Exception):
    """The process would be another program now."""


@pytest.mark.parametrize(
    ("pod", "members", "expected"),
    [("", 0, 1), ("zk-0", 1, 1), ("zk-0", 3, 1), ("my-zk-2", 3, 3), ("zk-12", 13, 13)],
)
def test_the_id_is_the_ordinal_and_one(pod: str, members: int, expected: int) -> None:
    assert zookeeper.member_id(pod, members) == expected


@pytest.mark.parametrize("pod", ["", "zk", "zk-3", "zk-x", "zk-²"])
def test_a_member_without_an_ordinal_is_refused(pod: str) -> None:
    with pytest.raises(ValueError, match="POD_NAME"):
        zookeeper.member_id(pod, 3)


def test_a_server_alone_names_no_members() -> None:
    lines = zookeeper.configuration(Path("/data"), client_port=2181, servers=()).splitlines()
    assert {"clientPort=2181", "dataDir=/data", "admin.enableServer=false"} <= set(lines)
    assert [line for line in lines if line.startswith(("server.", "initLimit"))] == []


def test_a_member_names_all_of_them() -> None:
    lines = zookeeper.configuration(Path("/data"), client_port=2181, servers=THREE).splitlines()
    assert [line for line in lines if line.startswith("server.")] == [
        "server.1=a-0.a:2888:3888",
        "server.2=a-1.a:2888:3888",
        "server.3=a-2.a:2888:3888",
    ]
    assert "quorumListenOnAllIPs=true" in lines


def test_the_process_becomes_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    became: list[list[str]] = []

    def execv(_path: str, arguments: list[str]) -> NoReturn:
        became.append(arguments)
        raise Became

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setattr(zookeeper, "find_java", lambda: "/opt/java/bin/java")
    data = tmp_path / "data"
    with pytest.raises(Became):
        zookeeper.main(
            data_dir=data,
            client_port=2181,
            servers=THREE,
            heap_percentage=50,
            environment={"POD_NAME": "a-1"},
        )
    (arguments,) = became
    assert arguments[:2] == ["/opt/java/bin/java", "-XX:MaxRAMPercentage=50"]
    assert arguments[-2:] == [zookeeper.MAIN_CLASS, str(data / "zoo.cfg")]
    jars = arguments[arguments.index("-cp") + 1].split(":")
    assert all(Path(jar).exists() for jar in jars)
    assert (data / "myid").read_text() == "2\n"
    assert "server.3=" in (data / "zoo.cfg").read_text()
    assert capsys.readouterr().err == ""


def test_a_pod_that_is_no_member_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = zookeeper.main(
        data_dir=tmp_path,
        client_port=2181,
        servers=THREE,
        heap_percentage=60,
        environment={"POD_NAME": "a-7"},
    )
    assert ended == zookeeper.EXIT_BAD_CONFIGURATION
    assert "a-7" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
