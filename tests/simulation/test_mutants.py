"""The deliberate bugs: those that are found quickly here, all of them by ``make mutants``."""

import ast
from pathlib import Path

import pytest

from tests.simulation.mutants import disk_bugs
from tests.simulation.mutants.catalogue import MODULES, MUTANTS
from tests.simulation.mutants.mutant import Mutant, NotFound, Seeds, Walks

FOUND_BY_FEW_SEEDS = (
    "controller_writes_without_the_epoch_check",
    "leader_epoch_is_not_raised",
    *(mutant.name for mutant in disk_bugs.MUTANTS),
)
QUICK = [
    mutant
    for mutant in MUTANTS.values()
    if not isinstance(mutant.finder, Seeds) or mutant.name in FOUND_BY_FEW_SEEDS
]


@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.name)
def test_a_bug_is_found(mutant: Mutant) -> None:
    assert mutant.hunt()


def test_a_bug_that_is_none_is_not_found() -> None:
    def nothing(patch: pytest.MonkeyPatch) -> None:
        del patch

    for finder in (Seeds(frozenset({"C1"}), limit=1), Walks(frozenset({"P7"}), limit=5)):
        with pytest.raises(NotFound):
            Mutant(nothing, finder).hunt()


def test_every_bug_is_in_the_catalogue() -> None:
    planted = {
        node.name
        for module in MODULES
        for node in ast.parse(Path(module.__file__ or "").read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name != "rules"
    }
    assert {module.__name__.rpartition(".")[2] for module in MODULES} == {
        path.stem for path in Path(disk_bugs.__file__ or "").parent.glob("*_bugs.py")
    }
    assert planted == MUTANTS.keys()
    assert len(MUTANTS) >= 20
    assert sum(bool(mutant.published) for mutant in MUTANTS.values()) >= 15
