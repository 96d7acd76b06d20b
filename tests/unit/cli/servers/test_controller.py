import signal
from pathlib import Path

import pytest

from ballast.cli.servers import controller as command
from tests.unit.commands.processes import until_stopped

GOOD = {
    "controller.id": "1",
    "controller.listener": "127.0.0.1:0",
    "zookeeper.connect": "127.0.0.1:1",
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("controller.id", "one"),
        ("controller.listener", "nowhere"),
        ("zookeeper.connect", ""),
        ("num.partitions", "0"),
    ],
)
def test_a_bad_property_is_named(capsys: pytest.CaptureFixture[str], name: str, value: str) -> None:
    properties = {**GOOD, name: value}
    overrides = [f"{key}={text}" for key, text in properties.items()]
    assert command.main(properties=None, overrides=overrides) == 2
    assert capsys.readouterr().err.startswith(f"ballast controller: {name}: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_candidate_without_zookeeper_can_be_stopped(
    tmp_path: Path, number: signal.Signals
) -> None:
    properties = {**GOOD, "ballast.http.listener": "127.0.0.1:0"}
    assert until_stopped("controller", properties, tmp_path, number) == 0
