"""The documentation agrees with the code: files, functions and links that it names exist."""

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PACKAGE = ROOT / "operator" / "ballast"
PAGES = sorted(DOCS.rglob("*.md"))
JOURNEYS = [
    DOCS / "design" / f"{name}.md" for name in ("produce", "reassignment", "plan", "failover")
]
LOCAL_TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
STEP = re.compile(r"^\| \d+ \| `([^`]+)` \| (?:`([^`]+)`)? ?\|", re.MULTILINE)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def names_in(module: Path) -> set[str]:
    """Return the names of a module's functions and classes, methods as ``Class.method``."""
    names = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [
                n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            names |= {f"{node.name}.{method.name}" for method in methods}
    return names


@pytest.mark.parametrize("page", JOURNEYS, ids=relative)
def test_every_step_of_a_journey_exists(page: Path) -> None:
    steps = STEP.findall(page.read_text())
    assert len(steps) > 5
    missing = [
        f"{file} {name}".strip()
        for file, name in steps
        if not (PACKAGE / file).exists() or (name and name not in names_in(PACKAGE / file))
    ]
    assert not missing, f"{relative(page)} names what is not there; correct the page"


@pytest.mark.parametrize("page", LOCAL_TEXTS, ids=relative)
def test_links_lead_to_files(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_pages_of_the_site_link_only_to_the_site(page: Path) -> None:
    links = [link for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [link for link in links if DOCS not in (page.parent / link).resolve().parents] == []


def test_every_page_is_in_the_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    named = set(re.findall(r"[\w/-]+\.md", str(settings["nav"])))
    assert named == {page.relative_to(DOCS).as_posix() for page in PAGES}


def test_the_site_loads_nothing_from_other_servers() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert settings["theme"]["font"] is False
    # Others may add scripts; the plugin `offline` adds one of unpkg.com, for instance.
    assert settings["plugins"] == ["search"]
    assert not settings.keys() & {"extra_javascript", "extra_css"}
    assert all("mermaid" not in page.read_text() for page in PAGES)


def test_the_glossary_has_each_word_once() -> None:
    words = re.findall(r"^\| ([^|]+) \|", (DOCS / "glossary.md").read_text(), re.MULTILINE)[1:]
    assert len(words) >= 50
    assert len(words) == len(set(words))


def test_files_that_contributing_names_exist() -> None:
    named = re.findall(
        r"`((?:operator|tests|crds|docs|charts)/[^`\s]+)`", (ROOT / "CONTRIBUTING.md").read_text()
    )
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_targets_that_contributing_names_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"(?:`|^ {4})make ([a-z0-9]+)", text, re.MULTILINE))
    assert {"venv", "lint", "test", "docs", "tools", "hooks"} <= named <= targets
