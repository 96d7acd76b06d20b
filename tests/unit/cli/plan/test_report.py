from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from ballast.cli.plan import report as plan_report
from ballast.cli.plan.files import load_snapshot, read_plan_file
from ballast.cli.plan.report import report
from ballast.planner.explain.applying import applied
from ballast.planner.explain.explain import Explanation, explain
from ballast.planner.explain.target import Change
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.commands.plans_in_files import snapshot_and_plan
from tests.unit.planner.builders import made


def explained(folder: Path, **more: int) -> tuple[ClusterColumns, Explanation]:
    snapshot, plan = snapshot_and_plan(folder, **more)
    columns = load_snapshot(snapshot)
    lines = read_plan_file(plan)
    changes = (
        Change(
            topic=line.topic,
            partitions=line.partitions,
            origins=line.origins,
            targets=line.targets,
        )
        for line in lines
    )
    return columns, explain(columns, applied(columns, changes).replicas)


def drawings(page: str) -> list[ElementTree.Element]:
    """Return the drawings of a page; each must be well-formed."""
    parts = page.split("<svg")[1:]
    texts = ["<svg" + part.partition("</svg>")[0] + "</svg>" for part in parts]
    return [ElementTree.fromstring(text) for text in texts]  # noqa: S314  (our own page)


def test_bars_and_flows(tmp_path: Path) -> None:
    page = report(*explained(tmp_path))
    replicas, _, sizes, flows = drawings(page)
    assert len(replicas.findall("rect")) == len(sizes.findall("rect")) == 10
    words = [text.text for text in replicas.findall("text")]
    assert words[-2:] == ["broker 4", "0 → 20"]
    assert "30.0Mi → 20.0Mi" in [text.text for text in sizes.findall("text")]
    titles = [cell.findtext("title") or "" for cell in flows.findall("rect")]
    assert titles
    assert all(" → 4: " in title for title in titles)
    assert "<td>20<td>least 20" in page


def test_many_brokers_are_shown_by_rack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_report, "MAX_MATRIX_BROKERS", 4)
    monkeypatch.setattr(plan_report, "MAX_BARS", 3)
    page = report(*explained(tmp_path))
    assert "The 3 of 5 brokers that change the most." in page
    assert "Copies from rack (rows) to rack (columns)" in page
    titles = [cell.findtext("title") or "" for cell in drawings(page)[-1].findall("rect")]
    assert {title.partition(":")[0] for title in titles} <= {"rack 0 → rack 0", "rack 1 → rack 0"}


def test_names_are_escaped_and_nothing_is_drawn_of_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan_report, "MAX_MATRIX_BROKERS", 0)
    cluster = made({0: "<a&b>", 1: "c"}, {"t": [[0]]})
    page = report(cluster, explain(cluster, np.array([[1]], np.int32)))
    assert "<a&b>" not in page
    assert "&lt;a&amp;b&gt; → c: 1" in page
    still = report(cluster, explain(cluster, cluster.replicas))
    assert "Copies from" not in still
    assert "Bytes by broker" not in still
