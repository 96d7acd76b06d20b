import fcntl
import socket
from pathlib import Path

import pytest

from ballast.cli.embedded.layout import ClusterLayout
from ballast.cli.servers.up import main, unknown_properties
from ballast.model.settings.keys import ConfigError
from tests.interop.ports import port_range


def up(directory: Path, base_port: int, *overrides: str) -> int:
    return main(
        brokers=1,
        controllers=1,
        directory=directory,
        base_port=base_port,
        log_dirs=1,
        restart=False,
        overrides=overrides,
    )


def layout(directory: Path, base_port: int = 19092, **overrides: str) -> ClusterLayout:
    return ClusterLayout(
        directory=directory,
        brokers=1,
        controllers=1,
        base_port=base_port,
        overrides={name.replace("_", "."): value for name, value in overrides.items()},
    )


def test_a_taken_port_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with port_range() as base_port, socket.create_server(("127.0.0.1", base_port)):
        assert up(tmp_path / "cluster", base_port) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (f"ballast up: port {base_port} cannot be listened on: Address already in use\n")
    assert not (tmp_path / "cluster" / "data").exists()


def test_a_held_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = tmp_path / "run" / "lock"
    lock.parent.mkdir()
    with lock.open("w") as held, port_range() as base_port:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert up(tmp_path, base_port) == 1
    error = capsys.readouterr().err
    assert error == f"ballast up: a cluster is running in {tmp_path} already\n"


@pytest.mark.parametrize(
    ("override", "complaint"),
    [
        ("num.partitions", "not NAME=VALUE: 'num.partitions'"),
        ("num.partitions=none", "num.partitions: Not a number of type INT"),
        ("delete.topic.enable=1", "delete.topic.enable: Expected value to be either true or false"),
    ],
)
def test_a_bad_override_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], override: str, complaint: str
) -> None:
    assert up(tmp_path / "cluster", 19092, override) == 2
    assert capsys.readouterr().err == f"ballast up: {complaint}\n"
    assert not (tmp_path / "cluster").exists()


def test_overrides_of_brokers_and_of_controllers_are_known(tmp_path: Path) -> None:
    known = layout(tmp_path, log_segment_bytes="1048576", delete_topic_enable="false")
    assert unknown_properties(known) == []
    assert unknown_properties(layout(tmp_path, mispelt_name="a.B")) == ["mispelt.name"]
    with pytest.raises(ConfigError):
        unknown_properties(layout(tmp_path, log_segment_bytes="-1"))
