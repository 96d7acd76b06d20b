import io
import json

import pytest
from rich.console import Console

from ballast.cli.run.progress_view import (
    JsonView,
    LinesView,
    TerminalView,
    headline,
    picture,
    view_for,
)
from ballast.model.conditions import ConditionStatus, Finding
from ballast.reassign.plan.progress import Progress
from ballast.reassign.state.conditions import ConditionType, updated
from ballast.reassign.state.status import BrokerProgress, Failure, Status


def status(completed: int = 1, *, at_ms: int = 0, reason: str = "Moving") -> Status:
    final = completed == 3
    findings = {
        ConditionType.PROGRESSING: Finding(
            status=ConditionStatus.TRUE, reason=reason, message="because"
        ),
        ConditionType.SUCCEEDED: Finding(
            status=ConditionStatus.TRUE if final else ConditionStatus.UNKNOWN,
            reason="Completed" if final else "Executing",
            message="3 in place" if final else "",
        ),
    }
    return Status(
        observed_generation=1,
        update_time_ms=at_ms,
        conditions=updated({}, findings, generation=1, now_ms=0),
        progress=Progress(
            pending=3 - completed,
            in_progress=0,
            completed=completed,
            failed=0,
            skipped=0,
            bytes_moved=2048,
            bytes_remaining=1024,
        ),
        bytes_per_second=512.0,
        brokers=(BrokerProgress(broker_id=4, bytes_moved=2048, bytes_total=3072),),
        failures=(Failure(topic="t", partition=0, reason="TargetBrokerOffline", message="4"),),
    )


def test_one_line_says_it_all() -> None:
    assert headline(status()) == (
        "Executing, 1/3 (33%), 2.0KiB moved, 1.0KiB to go, 512B/s, ETA 2s"
    )
    assert headline(status(reason="UnderMinISR")).endswith(" - UnderMinISR: because")
    assert headline(status(3)) == "Completed, 3/3 (100%), 2.0KiB moved - 3 in place"


def test_json_is_one_status_a_line_when_something_is_new() -> None:
    out, errors = io.StringIO(), io.StringIO()
    with JsonView(out, errors) as view:
        view.show(status(at_ms=0))
        view.show(status(at_ms=5000))
        view.show(status(2, at_ms=6000))
        view.note("edit ignored")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["progress"]["summary"] for line in lines] == ["1/3 (33%)", "2/3 (66%)"]
    assert errors.getvalue() == "edit ignored\n"


def test_lines_do_not_repeat_themselves() -> None:
    out = io.StringIO()
    with LinesView(out) as view:
        for shown in (status(), status(), status(2)):
            view.show(shown)
        view.note("edit ignored")
    assert [line[:20] for line in out.getvalue().splitlines()] == [
        "Executing, 1/3 (33%)",
        "Executing, 2/3 (66%)",
        "edit ignored",
    ]


def test_a_terminal_shows_bars_and_conditions() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with console.capture() as capture:
        console.print(picture(status()))
    shown = capture.get()
    for text in ("onto broker 4", "1 done, 0 moving, 2 waiting", "Succeeded", "t-0: TargetBroker"):
        assert text in shown


def test_a_terminal_is_redrawn() -> None:
    out = io.StringIO()
    with TerminalView(Console(file=out, force_terminal=True, width=100)) as view:
        view.show(status())
        view.note("a note")
        view.show(status(3))
    assert "a note" in out.getvalue()
    assert "Completed" in out.getvalue()


def test_the_view_for_an_output() -> None:
    out = io.StringIO()
    assert isinstance(view_for("json", out, out), JsonView)
    assert isinstance(view_for("text", out, out), LinesView)
    with pytest.raises(ValueError, match="--output must be text or json"):
        view_for("xml", out, out)
