import io

import pytest
from rich.console import Console, RenderableType

from ballast.cli.kubectl.objects import Reassignment
from ballast.cli.kubectl.plan import broker_rows
from ballast.cli.kubectl.tables import (
    broker_sets_table,
    brokers_table,
    console,
    plan_bars,
    plan_lines,
    plan_table,
    reassignments_table,
)
from ballast.reassign.plan.chunks import write_plan
from tests.unit.commands.kubectl_documents import PLAN, broker_set, condition, reassignment

SUMMARY = write_plan(PLAN.moves).summary
SEEN = Reassignment(reassignment("AwaitingApproval"))


def drawn(what: RenderableType) -> list[str]:
    """Return the words of each line drawn, with one space between them."""
    out = io.StringIO()
    Console(file=out, width=240).print(what)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_broker_sets() -> None:
    external = {
        "metadata": {"name": "kafka"},
        "spec": {"bootstrapServers": "a:1"},
        "status": {"conditions": [condition("Ready", "True", "Ready")]},
    }
    assert drawn(broker_sets_table([broker_set(), external, {"metadata": {"name": "new"}}])) == [
        "BROKER SET READY PARTITIONS UNDER-REPLICATED CONTROLLER STATUS WHY",
        "prod 2/3 16 3 operator-a (epoch 7) BrokersNotReady 1 of 3 is not ready",
        "kafka external Ready",
        "new 0/?",
    ]


def test_brokers() -> None:
    lines = drawn(brokers_table([broker_set(), {"metadata": {"name": "new"}}]))
    assert lines[1:] == [
        "prod 1 prod-broker-1 4 10 5.0GiB",
        "prod 2 prod-broker-2 4 10 5.0GiB",
        "prod 3 prod-broker-3 6 12 6.0GiB",
    ]


def test_reassignments() -> None:
    progress = {"summary": "1/2 (50%)", "bytesRemaining": 1024, "bytesPerSecond": 512, "eta": "2s"}
    moving = Reassignment(reassignment(status={"progress": progress}))
    done = Reassignment(reassignment("Completed", name="done", status={"progress": progress}))
    assert drawn(reassignments_table([moving, done]))[1:] == [
        "move prod Executing 1/2 (50%) 1.0KiB 512B/s 2s",
        "done prod Completed 1/2 (50%) is Completed",
    ]


def test_hostile_text_is_drawn_as_text() -> None:
    hostile = Reassignment(reassignment("[red]\x1b[2J", name="[bold]x"))
    (line,) = drawn(reassignments_table([hostile]))[1:]
    assert line == "[bold]x prod [red]?[2J"


def test_words_about_a_plan() -> None:
    assert plan_lines(SUMMARY, SEEN) == [
        "move: 2 partitions of 1 topics, 2 replicas to copy (2.0GiB), "
        "2 changes of preferred leader",
        f"digest {PLAN.digest}",
        "state AwaitingApproval",
    ]


def test_before_and_after() -> None:
    assert drawn(plan_table(broker_rows(SUMMARY, SEEN, broker_set()))) == [
        "BROKER REPLICAS AFTER CHANGE LEADERS AFTER CHANGE COPIED IN SIZE AFTER",
        "1 10 11 +1 4 5 +1 ~1.0GiB 5.0GiB ~6.0GiB",
        "2 10 11 +1 4 5 +1 ~1.0GiB 5.0GiB ~6.0GiB",
        "3 12 10 -2 6 4 -2 6.0GiB ~4.0GiB",
    ]
    assert drawn(plan_table(broker_rows(SUMMARY, SEEN, None)))[1] == "1 1 2 +1 0 1 +1 ~1.0GiB"


def test_bars() -> None:
    lines = drawn(plan_bars(broker_rows(SUMMARY, SEEN, broker_set())))
    assert lines[4] == f"broker 3 before {'█' * 40} 12"
    assert lines[5] == f"after {'█' * 33}▍ 10"
    assert drawn(plan_bars(broker_rows(SUMMARY, SEEN, None)))[5] == "after 0"
    assert drawn(plan_bars(())) == [""]


def test_nothing_is_cut_where_no_terminal_is(capsys: pytest.CaptureFixture[str]) -> None:
    console().print("x " * 100)
    assert len(capsys.readouterr().out.splitlines()) == 1
