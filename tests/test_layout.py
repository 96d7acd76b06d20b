"""The layout: sizes, names, layers, and a test module for every module."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
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
MAX_CHILDREN = 30
MAX_ARROWS = 60
"""Imports between the children of one folder, so that its drawing can be read."""

WITHOUT_UNIT_TESTS = {
    # Values and declarations only: the tests of their users cover them.
    "controller/state/control_requests.py",
    "controller/state/events.py",
    "controller/state/ports.py",
    "coordinator/ports.py",
    "coordinator/requests.py",
    "kube/runtime/context.py",
    "kube/api/ports.py",
    "model/settings/controller_config.py",
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


def children(folder: Path) -> list[str]:
    """Return the names of a package's modules and packages."""
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return sorted(modules | packages)


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
DIVIDED = [folder for folder in PACKAGES if any(folder.glob("*/__init__.py"))]


def dotted(folder: Path) -> str:
    return ".".join(folder.relative_to(PACKAGE.parent).parts)


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("ballast", cache_dir=None)


def test_the_picture_of_layers_names_every_package() -> None:
    picture = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text())) or ""
    words = set(picture.replace("|", " ").split())
    assert [name for name in children(PACKAGE) if name not in words] == []


def layers_of(package: str) -> list[str]:
    """Return the layers of a package's import contract, top first; raises `KeyError`."""
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers: dict[str, list[str]] = {
        contract["containers"][0]: contract["layers"]
        for contract in linter["contracts"]
        if contract["type"] == "layers"
    }
    return layers[package]


@pytest.mark.parametrize("folder", DIVIDED, ids=dotted)
def test_every_divided_package_has_a_contract_of_layers(folder: Path) -> None:
    named = [name.strip() for layer in layers_of(dotted(folder)) for name in layer.split("|")]
    assert sorted(named) == children(folder)


@pytest.mark.parametrize("folder", PACKAGES, ids=dotted)
def test_folders_are_small(folder: Path) -> None:
    assert len(children(folder)) <= MAX_CHILDREN


@pytest.mark.parametrize("folder", PACKAGES, ids=dotted)
def test_the_drawing_of_a_folder_can_be_read(folder: Path, imports: grimp.ImportGraph) -> None:
    names = [f"{dotted(folder)}.{name}" for name in children(folder)]
    arrows = [
        (importer, imported)
        for importer in names
        for imported in names
        if importer != imported
        and imports.direct_import_exists(importer=importer, imported=imported, as_packages=True)
    ]
    assert len(arrows) <= MAX_ARROWS
