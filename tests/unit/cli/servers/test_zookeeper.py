"""What ``ballast zookeeper`` runs, and what it refuses."""

from pathlib import Path

import pytest

from ballast.cli.servers import zookeeper
from ballast.cli.servers.long_running import EXIT_BAD_CONFIGURATION

PATTERN = "zk-{ordinal}.zk"


def refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    host_pattern: str = PATTERN,
    ports: str = "1,2,3,4",
) -> str:
    """Return what is said of settings that are refused."""
    replicas = tmp_path / "replicas"
    replicas.write_text("3\n")
    code = zookeeper.main(
        data_dir=tmp_path / "data",
        replicas_file=replicas,
        heap_percentage=50,
        host_pattern=host_pattern,
        ports=ports,
    )
    assert code == EXIT_BAD_CONFIGURATION
    assert not (tmp_path / "data").exists()
    return capsys.readouterr().err


def test_a_pod_without_an_ordinal_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAME", "zk-x")
    assert "POD_NAME 'zk-x'" in refused(tmp_path, capsys)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"host_pattern": "zk.example"}, "{ordinal}"),
        ({"ports": "2181,2888"}, "--ports"),
        ({"ports": "2181,2888,3888,x"}, "x"),
    ],
)
def test_addresses_that_cannot_be_are_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    named: str,
) -> None:
    monkeypatch.setenv("POD_NAME", "zk-0")
    assert named in refused(tmp_path, capsys, **settings)


def test_a_file_that_holds_no_number_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAME", "zk-0")
    (tmp_path / "many").write_text("many")
    code = zookeeper.main(
        data_dir=tmp_path / "data",
        replicas_file=tmp_path / "many",
        heap_percentage=50,
        host_pattern=PATTERN,
    )
    assert code == EXIT_BAD_CONFIGURATION
    assert "many" in capsys.readouterr().err


def test_the_servers_command_line() -> None:
    words = zookeeper.command(
        "/opt/java/bin/java",
        [Path("/a.jar"), Path("/b.jar")],
        Path("/data/zoo.cfg"),
        "super:x=",
        heap_percentage=40,
    )
    assert words[:2] == ["/opt/java/bin/java", "-XX:MaxRAMPercentage=40"]
    assert words[words.index("-cp") + 1] == "/a.jar:/b.jar"
    assert words[-2:] == [zookeeper.MAIN_CLASS, "/data/zoo.cfg"]
    assert "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:x=" in words
