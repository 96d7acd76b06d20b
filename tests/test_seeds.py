"""SEEDS.md says the truth: every path, name and test in it exists, and no row is left open."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("000", "001", "002", "003", "004", "defects")
NOT_BUILT = "not built: "
_REFERENCE = re.compile(r"`((?:operator/ballast|tests)/[^`]+)`")


class Row(NamedTuple):
    article: str
    behaviour: str
    code: str
    tests: str


def rows() -> list[Row]:
    found = []
    article = ""
    for line in (ROOT / "tests" / "SEEDS.md").read_text().splitlines():
        if line.startswith("## "):
            article = line[3:].partition(":")[0]
        elif line.startswith("| ") and not line.startswith("| behaviour"):
            found.append(Row(article, *(cell.strip() for cell in line.strip("|").split(" | "))))
    return found


ROWS = rows()


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the classes and functions of a module, members with the name of their class.

    Members are written ``Class.member`` in code and ``Class::member`` in tests.
    """
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            members = [
                member.name
                for member in node.body
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            names |= {f"{node.name}{dot}{member}" for member in members for dot in (".", "::")}
    return frozenset(names)


def missing(cell: str) -> list[str]:
    """Return the references of a cell that lead nowhere."""
    lost = []
    for reference in _REFERENCE.findall(cell):
        path, _, name = reference.partition("::")
        module = ROOT / path
        if not module.is_file() or (name and name not in names_in(module)):
            lost.append(reference)
    return lost


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.article}-{row.behaviour[:40]}")
def test_row(row: Row) -> None:
    if row.code.startswith(NOT_BUILT):
        assert len(row.code) > len(NOT_BUILT)
        assert row.tests == "-"
        return
    for cell, root in ((row.code, "operator/ballast/"), (row.tests, "tests/")):
        references = _REFERENCE.findall(cell)
        assert references, "a row names its code and its test"
        assert all(reference.startswith(root) for reference in references)
        assert missing(cell) == []
    assert all("::test_" in reference for reference in _REFERENCE.findall(row.tests))


def test_every_part_has_its_rows() -> None:
    assert {row.article for row in ROWS} == {*PARTS}
    assert len({(row.article, row.behaviour) for row in ROWS}) == len(ROWS) > 140


def test_a_reference_that_leads_nowhere_is_found() -> None:
    assert missing("`tests/test_seeds.py::test_row`, `operator/ballast/cli/app.py`") == []
    assert missing("`tests/test_seeds.py::test_gone`") == ["tests/test_seeds.py::test_gone"]
    assert missing("`operator/ballast/gone.py`") == ["operator/ballast/gone.py"]
