import signal
from pathlib import Path

import pytest

from ballast.cli.servers import broker as command
from tests.unit.commands.processes import until_stopped

GOOD = {
    "broker.id": "1",
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "log.dirs": "/nowhere",
    "zookeeper.connect": "127.0.0.1:1",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("broker.id", "one"),
        ("listeners", "PLAINTEXT://127.0.0.1"),
        ("zookeeper.connect", ""),
        ("log.segment.bytes", "-1"),
        ("unclean.leader.election.enable", "maybe"),
    ],
)
def test_a_bad_property_is_named(capsys: pytest.CaptureFixture[str], name: str, value: str) -> None:
    properties = {**GOOD, name: value}
    overrides = [f"{key}={text}" for key, text in properties.items()]
    assert command.main(properties=None, overrides=overrides) == 2
    assert capsys.readouterr().err.startswith(f"ballast broker: {name}: ")


@pytest.mark.parametrize("name", ["broker.id", "zookeeper.connect"])
def test_what_has_no_default_must_be_given(capsys: pytest.CaptureFixture[str], name: str) -> None:
    overrides = [f"{key}={text}" for key, text in GOOD.items() if key != name]
    assert command.main(properties=None, overrides=overrides) == 2
    assert capsys.readouterr().err == f"ballast broker: {name}: must be given\n"


def test_a_broker_that_still_waits_for_zookeeper_can_be_stopped(tmp_path: Path) -> None:
    properties = {**GOOD, "log.dirs": str(tmp_path / "data")}
    assert until_stopped("broker", properties, tmp_path, signal.SIGTERM) == 0
