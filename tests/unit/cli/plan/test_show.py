import io
from pathlib import Path
from typing import Any

import pytest

from ballast.cli.plan.show import EXIT_DONE, EXIT_INVALID, ShowOptions, main, show
from tests.unit.commands.plans_in_files import snapshot_and_plan


def run(plan: Path, **more: Any) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = show(ShowOptions(plan=plan, **more), out, errors)
    return code, " ".join(out.getvalue().split()), errors.getvalue()


def test_a_plan_by_itself(tmp_path: Path) -> None:
    _, plan = snapshot_and_plan(tmp_path)
    code, said, errors = run(plan)
    assert (code, errors) == (EXIT_DONE, "")
    assert "20 partitions of 1 topics: 20 replicas to copy" in said
    assert "│ 4 │ 20 │ 0 │" in said


def test_a_plan_on_its_cluster(tmp_path: Path) -> None:
    snapshot, plan = snapshot_and_plan(tmp_path)
    code, said, errors = run(plan, snapshot=snapshot, throttle="1Mi")
    assert (code, errors) == (EXIT_DONE, "")
    assert "20 replicas are copied (least 20), 20.0MiB (least 20.0MiB)" in said
    assert "against the rule of racks: 0 before, 0 after" in said
    assert "│ replicas │ 0 to 30 │ 20 to 30 │ 50.0% │ 20.4% │" in said
    assert "│ 4 │ 0 → 20 │" in said
    assert "at least 4 batches of 5 moves per broker" in said
    assert "with at most 100 moves at once, 4 batches" in said
    assert "at least 0 h 0 min 20 s with 1.0MiB/s" in said


def test_a_page_is_written(tmp_path: Path) -> None:
    snapshot, plan = snapshot_and_plan(tmp_path)
    page = tmp_path / "page.html"
    assert run(plan, snapshot=snapshot, html=page)[0] == EXIT_DONE
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"html": Path("x")}, "snapshot: is needed"),
        ({"throttle": "5"}, "snapshot: is needed"),
        ({"throttle": "5X"}, "throttle: is not a quantity"),
        ({"throttle": "0"}, "throttle: must be more than 0"),
    ],
)
def test_options_that_do_not_go_together(
    tmp_path: Path, more: dict[str, Any], message: str
) -> None:
    _, plan = snapshot_and_plan(tmp_path)
    code, said, errors = run(plan, **more)
    assert (code, said) == (EXIT_INVALID, "")
    assert errors.startswith(message)


def test_a_plan_for_another_cluster_and_none_at_all(tmp_path: Path) -> None:
    snapshot, plan = snapshot_and_plan(tmp_path)
    snapshot.write_text(snapshot.read_text().replace("[0,1]", "[1,0]"))
    code, _, errors = run(plan, snapshot=snapshot)
    assert code == EXIT_INVALID
    assert "and the plan begins at [0, 1]" in errors
    plan.write_text("{}\n")
    assert run(plan)[::2] == (
        EXIT_INVALID,
        "line 1: not a line of a plan: Object missing required field `topic`\n",
    )
    assert main(ShowOptions(plan=tmp_path / "none")) == EXIT_INVALID
