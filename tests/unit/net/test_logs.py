"""Log lines as JSON."""

import io
import json
import logging
import sys

import pytest

from ballast.net.logs import JsonFormatter, log_to


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("ballast.x", logging.WARNING, "f.py", 1, message, args, None)
    made.created = 1_700_000_000.5
    vars(made).update(extra)
    return made


def test_fixed_fields_and_extras() -> None:
    line = JsonFormatter().format(record("took %d ms", 5, broker_id=3, replicas=(1, 2)))

    assert json.loads(line) == {
        "ts": "2023-11-14T22:13:20.500+00:00",
        "level": "warning",
        "logger": "ballast.x",
        "message": "took 5 ms",
        "broker_id": 3,
        "replicas": [1, 2],
    }


def test_fields_may_have_the_names_of_a_records_own() -> None:
    fields = {"name": "move", "namespace": "a", "level": "mine"}
    line = json.loads(JsonFormatter().format(record("x", fields=fields)))
    assert (line["name"], line["namespace"], line["level"]) == ("move", "a", "warning")
    assert "fields" not in line


@pytest.mark.parametrize("code", [*range(32), 127, *range(0x80, 0xA0), 0x2028, 0x202E])
def test_control_characters_never_reach_the_stream(code: int) -> None:
    """S24: a topic's or client's name begins no line and moves no cursor."""
    name = f"a{chr(code)}b"
    line = JsonFormatter().format(record("%s", name, topic=name))

    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["topic"] == name


def test_an_exception_stays_on_the_line() -> None:
    made = record("failed")
    try:
        int("why")
    except ValueError:
        made.exc_info = sys.exc_info()

    line = JsonFormatter().format(made)

    assert "\n" not in line
    assert "ValueError: invalid literal" in json.loads(line)["exception"]


def test_a_process_logs_to_a_stream() -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers = []
    try:
        log_to(stream, logging.INFO)
        logging.getLogger("ballast.y").info("hello")
        logging.getLogger("ballast.y").debug("not this")
    finally:
        root.handlers = before
        root.setLevel(level)

    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["hello"]
