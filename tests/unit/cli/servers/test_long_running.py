import asyncio
import gc
import json
import logging
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ballast.broker.errors import StartupRefused
from ballast.cli.servers.long_running import (
    COLLECT_AFTER,
    read_properties,
    run_process,
    stop_signals,
    unless_stopped,
)
from ballast.model.settings.keys import ConfigError


@pytest.fixture(autouse=True)
def root_log() -> Iterator[None]:
    """Put the log back to where pytest had it: a process sends it to standard error."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Let the test run's own garbage be found as before."""
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def configure(properties: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
    if "must" not in properties:
        raise ConfigError("must", "must be given")
    return properties["must"], dict.fromkeys(sorted(set(properties) - {"must"}), "It is unknown.")


async def fine(config: str) -> None:
    logging.getLogger("test").info("%s runs", config)


async def failing(config: str) -> None:
    raise RuntimeError(f"{config} broke")


async def refused(config: str) -> None:
    await unless_stopped(refusing(config), asyncio.Event())


async def refusing(config: str) -> None:
    raise StartupRefused(f"{config} belongs to another process")


def log_lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_an_override_is_stronger_than_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("# comment\na=1\nb = 2\n")
    assert read_properties(file, ["b=3"]) == {"a": "1", "b": "3"}
    assert read_properties(None, []) == {}


def test_a_process_that_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_process("broker", configure, fine, None, ["must=it", "other=1"]) == 0
    warned, said = log_lines(capsys)
    assert warned["level"] == "warning"
    assert warned["message"] == "other is ignored: It is unknown."
    assert said["message"] == "it runs"


def test_a_process_that_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_process("broker", configure, failing, None, ["must=it"]) == 1
    (line,) = log_lines(capsys)
    assert line["level"] == "error"
    assert line["exception"].endswith("RuntimeError: it broke")


def test_a_start_that_is_refused_says_why_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_process("broker", configure, refused, None, ["must=it"]) == 1
    (line,) = log_lines(capsys)
    assert line["message"] == "it does not start: it belongs to another process"
    assert "exception" not in line


@pytest.mark.parametrize(
    ("content", "overrides", "complaint"),
    [
        (b"", [], "must: must be given"),
        (b"=1", [], "=1: a property has no name"),
        (b"", ["must"], "not NAME=VALUE: 'must'"),
        (
            b"must=\xff",
            [],
            "'utf-8' codec can't decode byte 0xff in position 5: invalid start byte",
        ),
        (None, [], "[Errno 2] No such file or directory"),
    ],
    ids=["missing", "malformed", "override", "no text", "no file"],
)
def test_a_bad_configuration_is_told_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    overrides: Sequence[str],
    complaint: str,
) -> None:
    file = tmp_path / "server.properties"
    if content is not None:
        file.write_bytes(content)
    assert run_process("broker", configure, fine, file, overrides) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"ballast broker: {complaint}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_stop(number: signal.Signals) -> None:
    stopped = stop_signals()
    os.kill(os.getpid(), number)
    async with asyncio.timeout(5):
        await stopped.wait()


async def test_work_ends_by_itself_or_is_cancelled() -> None:
    stopped = asyncio.Event()
    assert await unless_stopped(asyncio.sleep(0), stopped)
    asyncio.get_running_loop().call_soon(stopped.set)
    assert not await unless_stopped(asyncio.Event().wait(), stopped)


async def test_the_failure_of_the_work_is_raised() -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="it broke")):
        await unless_stopped(failing("it"), asyncio.Event())


def test_a_process_searches_for_garbage_seldom() -> None:
    assert run_process("thing", configure, fine, None, ["must=it"]) == 0
    assert gc.get_threshold()[0] == COLLECT_AFTER
    assert gc.get_freeze_count() > 0
