"""The house keeps its shape: sizes, names, and a test module for every module."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "operator" / "ballast"
UNIT = ROOT / "tests" / "unit"
MODULES = sorted(PACKAGE.rglob("*.py"))
EVERYTHING = [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))]

MAX_MODULE_LINES = 400
MAY_BE_LONGER = {
    "tests/interop/test_kafka_tools.py",  # a list of tools and of what each says
}
MAX_FUNCTION_LINES = 70

WITHOUT_UNIT_TESTS = {
    # Values and declarations only: whoever uses them tests them.
    "controller/state/control_requests.py",
    "controller/state/events.py",
    "controller/state/ports.py",
    "coordinator/ports.py",
    "coordinator/requests.py",
    "kube/runtime/context.py",
    "kube/api/ports.py",
    *(
        f"model/settings/{group}.py"  # rows of the table, which test_table.py looks at
        for group in (
            "cleaner",
            "controller",
            "groups",
            "keys",
            "load",
            "logs",
            "quotas",
            "replication",
            "security",
            "sockets",
            "topics",
            "zookeeper",
        )
    ),
    "reassign/ports.py",
    "spark/ports.py",
    "storage/files/ports.py",
    # Trees of errors without behaviour: that they are as drawn is tested below.
    "candidate/errors.py",
    "coordinator/errors.py",
    "cli/embedded/errors.py",
    "kube/api/errors.py",
    "net/errors.py",
    "replication/errors.py",
    "spark/errors.py",
}


MIRROR_NO_PACKAGE = {"crds"}
"""Folders of tests/unit about what is not Python: the schemas, and the pages about them."""


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def stems(name: str) -> Iterator[str]:
    """Yield a name, and what is left of it as words are taken from its end."""
    while name:
        yield name
        name = name.rpartition("_")[0]


def relative(module: Path) -> str:
    return module.relative_to(PACKAGE).as_posix()


def test_source_root_is_no_package() -> None:
    """A package named ``operator`` would shadow the standard library's."""
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_modules_are_small() -> None:
    long = {
        module.relative_to(ROOT).as_posix(): lines
        for module in EVERYTHING
        if (lines := len(module.read_text().splitlines())) > MAX_MODULE_LINES
    }
    assert long.keys() <= MAY_BE_LONGER


@pytest.mark.parametrize("module", EVERYTHING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_functions_are_short(module: Path) -> None:
    long = {
        function.name: lines
        for function in functions(module)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize("module", sorted(PACKAGE.rglob("errors.py")), ids=relative)
def test_the_errors_of_a_package_are_one_tree(module: Path) -> None:
    """Where the docstring draws the tree, it draws all of it."""
    tree = ast.parse(module.read_text())
    kinds = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.bases]
    root, *others = (kind.name for kind in kinds)
    bases = {kind.name: {ast.unparse(base) for base in kind.bases} for kind in kinds}
    assert bases[root] == {"Exception"}
    assert [name for name in others if not bases[name] & {root, *others}] == []
    drawn = ast.get_docstring(tree) or ""
    if "├──" in drawn:
        assert [name for name in others if f"── {name} " not in drawn] == []


@pytest.mark.parametrize("package", sorted(PACKAGE.rglob("__init__.py")), ids=relative)
def test_package_says_what_it_holds(package: Path) -> None:
    tree = ast.parse(package.read_text())
    assert len((ast.get_docstring(tree) or "").split()) > 10
    assert len(tree.body) == 1, "a package's __init__ holds its docstring only"


def test_every_module_has_its_test_module() -> None:
    untested = {
        relative(module)
        for module in MODULES
        if module.name not in ("__init__.py", "__main__.py")
        and not (UNIT / module.relative_to(PACKAGE).parent / f"test_{module.name}").exists()
    }
    assert untested == WITHOUT_UNIT_TESTS


def test_every_test_module_has_its_module() -> None:
    """A module's tests may be split: ``test_<module>_<aspect>.py``."""
    orphans = {
        test.relative_to(UNIT).as_posix()
        for test in UNIT.rglob("test_*.py")
        if test.parent.name not in MIRROR_NO_PACKAGE
        and not any(
            (PACKAGE / test.relative_to(UNIT).parent / f"{name}.py").exists()
            for name in stems(test.stem.removeprefix("test_"))
        )
    }
    assert orphans == set()
