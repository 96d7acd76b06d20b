"""A plan as one page of HTML that needs nothing else: bars by broker, and who copies to whom.

Drawn as inline SVG. With many brokers the flows are shown from rack to rack.
"""

from collections.abc import Iterator
from html import escape

import numpy as np

from ballast.model.quantity import format_bytes
from ballast.planner.arrays import Ints
from ballast.planner.explain.explain import Explanation
from ballast.planner.snapshot.columns import ClusterColumns

MAX_MATRIX_BROKERS = 48
"""With more, flows are shown from rack to rack."""
MAX_BARS = 200
_WIDTH = 960
_CELL = 16
_MARGIN = 90
_STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em auto;max-width:1000px;color:#222}"
    "table{border-collapse:collapse}td,th{padding:2px 12px;text-align:right;"
    "border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left}"
    "svg text{font-size:10px;fill:#444}"
)


def report(columns: ClusterColumns, explanation: Explanation) -> str:
    """Return the page."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Plan</title>",
        f"<style>{_STYLE}</style><h1>Plan</h1>",
        *_facts(explanation),
        *_section(
            "Replicas by broker", columns, explanation.before.replicas, explanation.after.replicas
        ),
        *_section(
            "Leaders by broker", columns, explanation.before.leaders, explanation.after.leaders
        ),
    ]
    if explanation.after.size_bytes.any():
        sizes = (explanation.before.size_bytes, explanation.after.size_bytes)
        parts += _section("Bytes by broker", columns, *sizes, is_bytes=True)
    parts += _flows(columns, explanation)
    return "".join([*parts, "</html>\n"])


def _facts(explanation: Explanation) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [
        ("Partitions that change", str(explanation.partitions), ""),
        (
            "Replicas copied",
            str(explanation.replica_moves),
            f"least {explanation.replica_moves_least}",
        ),
        (
            "Bytes copied",
            f"{format_bytes(explanation.bytes_to_move)}B",
            f"least {format_bytes(explanation.bytes_to_move_least)}B",
        ),
        ("Other preferred leaders", str(explanation.leader_changes), ""),
        ("Against the rule of racks", *map(str, reversed(explanation.rack_violations))),
    ]
    if explanation.log_dirs is not None:
        within = explanation.log_dirs
        least = f"least {format_bytes(within.bytes_least)}B"
        shares = [f"{within.fullest(use):.0%}" for use in (within.after, within.before)]
        rows += [
            ("Replicas to another log dir", str(within.replicas), ""),
            ("Bytes between log dirs", f"{format_bytes(int(within.bytes_within.sum()))}B", least),
            ("The fullest log dir, of its share", *shares),
        ]
    rows.append(("Sets of brokers with a partition", *map(str, reversed(explanation.copysets))))
    yield "<table><tr><th><th>after<th>least, or before"
    for name, value, beside in rows:
        yield f"<tr><td>{escape(name)}<td>{value}<td>{beside}"
    yield "</table>"


def _section(
    title: str, columns: ClusterColumns, before: Ints, after: Ints, *, is_bytes: bool = False
) -> Iterator[str]:
    """Yield a chart with two bars for each broker: light before, dark after."""
    changed = np.argsort(-np.abs(after - before), kind="stable")[:MAX_BARS]
    shown = np.sort(changed)
    most = max(1, int(before.max(initial=0)), int(after.max(initial=0)))
    height = 6 + 14 * len(shown)
    yield f"<h2>{escape(title)}</h2>"
    if len(shown) < len(after):
        yield f"<p>The {len(shown)} of {len(after)} brokers that change the most.</p>"
    yield f'<svg width="{_WIDTH}" height="{height}" role="img">'
    scale = (_WIDTH - 2 * _MARGIN - 60) / most
    for row, at in enumerate(shown.tolist()):
        top = 4 + 14 * row
        old, new = int(before[at]), int(after[at])
        words = [format_bytes(n) if is_bytes else str(n) for n in (old, new)]
        yield f'<text x="0" y="{top + 9}">broker {columns.brokers.ids[at]}</text>'
        yield _bar(_MARGIN, top, old * scale, 5, "#b8c9e0")
        yield _bar(_MARGIN, top + 5, new * scale, 5, "#2a5d9f")
        edge = _MARGIN + max(old, new) * scale + 6
        yield f'<text x="{edge:.1f}" y="{top + 9}">{words[0]} → {words[1]}</text>'
    yield "</svg>"


def _bar(left: float, top: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" fill="{colour}"/>'


def _flows(columns: ClusterColumns, explanation: Explanation) -> Iterator[str]:
    """Yield the table of who copies to whom: the darker, the more."""
    matrix = explanation.flows.matrix
    if matrix is None or not matrix.any():
        return
    names = [str(broker) for broker in columns.brokers.ids.tolist()]
    what = "broker"
    if len(names) > MAX_MATRIX_BROKERS:
        if not columns.brokers.has_racks:
            return
        what, names = "rack", [*columns.brokers.rack_names, "unknown"]
        matrix = _by_rack(columns, matrix)
    most = int(matrix.max())
    size = _MARGIN + _CELL * len(names)
    yield f"<h2>Copies from {what} (rows) to {what} (columns)</h2>"
    yield f'<svg width="{size}" height="{size}" role="img">'
    for at, name in enumerate(names):
        place = _MARGIN + _CELL * at + 11
        word = escape(name[:14])
        yield f'<text x="{_MARGIN - 4}" y="{place}" text-anchor="end">{word}</text>'
        turned = f"translate({place},{_MARGIN - 4}) rotate(-90)"
        yield f'<text x="0" y="0" transform="{turned}">{word}</text>'
    for source, end in zip(*(axis.tolist() for axis in np.nonzero(matrix)), strict=True):
        amount = int(matrix[source, end])
        left, top = _MARGIN + _CELL * end, _MARGIN + _CELL * source
        words = f"{escape(names[source])} → {escape(names[end])}: {format_bytes(amount)}"
        yield (
            f'<rect x="{left}" y="{top}" width="{_CELL - 1}" height="{_CELL - 1}" fill="#2a5d9f" '
            f'fill-opacity="{0.1 + 0.9 * amount / most:.2f}"><title>{words}</title></rect>'
        )
    yield "</svg>"


def _by_rack(columns: ClusterColumns, matrix: Ints) -> Ints:
    count = len(columns.brokers.rack_names) + 1
    racks = np.where(columns.brokers.racks < 0, count - 1, columns.brokers.racks)
    member = np.zeros((count, len(racks)), np.int64)
    member[racks, np.arange(len(racks))] = 1
    return np.asarray(member @ matrix @ member.T)
