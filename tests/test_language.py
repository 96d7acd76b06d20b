"""Product code and documentation are in plain English: words that hide the meaning are refused.

What is looked at: docstrings, comments and messages of the product, the documentation, the chart,
and the schemas. Names in code are not. `CONTRIBUTING.md` explains the style with examples; text
between ``<!-- language: off -->`` and ``<!-- language: on -->`` is exempt, for examples of what to
avoid.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TEXTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "Makefile",
    "Dockerfile",
    "pyproject.toml",
    "mkdocs.yml",
    "docs",
    "charts",
    "crds",
    "operator/ballast",
)
ENDINGS = {".py", ".md", ".yaml", ".yml", ".tpl", ".txt", ".json", ".toml", ""}

INSTEAD = {
    r"whoever|whomever": "name the client, process or user",
    r"anew": "say 'again', or what is created",
    r"tells?|told|telling": "say 'reports', 'sends', 'shows' or 'identifies'",
    r"so many": "name the number: 'this many', 'N seconds'",
    r"so much": "name the amount",
    r"comes? to|came to|coming to": "say 'amounts to', 'reaches' or 'gets'",
    r"lets? (?:\w+ )?(?:be|stay)": "say 'keeps' or 'does not change'",
    r"house": "name the cluster, process or package",
    r"some(?:body|one)|any(?:body|one)|nobody": "name the user, client, broker or process",
    r"tend(?:s|ed|ing|er|ers)?": "say 'reconciles', 'watches' or 'manages'",
    r"(?:gives?|gave|giving) way": "say 'yields' or 'fails'",
    r"hears?|heard": "say 'receives'",
    r"for ever": "say 'without a limit' or 'until …'",
    r"in vain": "say 'without success'",
    r"lack(?:s|ed|ing)?": "say 'is missing' or 'has no'",
    r"leveller": "name the module",
    r"of itself": "say 'by itself', or drop it",
}
BANNED = {re.compile(rf"\b(?:{words})\b", re.IGNORECASE): say for words, say in INSTEAD.items()}


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of comments and string literals with their numbers."""
    # From Python 3.12 on, the text of an f-string is a token of its own kind.
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in kinds:
            yield from enumerate(token.string.split("\n"), token.start[0])


def text_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without the exempt ones."""
    is_exempt = False
    for number, line in enumerate(source.split("\n"), 1):
        is_exempt = (is_exempt or "language: off" in line) and "language: on" not in line
        if not is_exempt:
            yield number, line


def findings(name: str, source: str) -> list[str]:
    """Return a line for each banned word: file, line, the word, and what to write instead."""
    lines = prose_of(source) if name.endswith(".py") else text_of(source)
    return [
        f"{name}:{number}: {match.group()!r}: {say}"
        for number, line in lines
        for pattern, say in BANNED.items()
        for match in pattern.finditer(line)
    ]


def files() -> Iterator[Path]:
    for text in TEXTS:
        path = ROOT / text
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            name = file.relative_to(ROOT).as_posix()
            # The chart's schemas are copies of crds/.
            is_copy = name.startswith("charts/ballast/crds/")
            if file.is_file() and file.suffix in ENDINGS and not is_copy:
                yield file


def test_the_language_is_plain() -> None:
    found = [
        line
        for file in files()
        for line in findings(file.relative_to(ROOT).as_posix(), file.read_text())
    ]
    assert not found, "write plain English (see CONTRIBUTING.md, Style):\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Whoever reads."""\n', ["1: 'Whoever'"]),
        ("x = 1\n# it is dealt anew\n", ["2: 'anew'"]),
        ('raise ValueError(f"{n} lacks\\n")\n', ["1: 'lacks'"]),
        ('"""One.\n\nThe broker is told.\n"""\n', ["3: 'told'"]),
        ("def tell(house: int) -> int:\n    return house\n", []),
        ('"warehouses, intended, slack, blackout"\n', []),
    ],
)
def test_docstrings_comments_and_messages_are_looked_at(source: str, expected: list[str]) -> None:
    lines = [line.rpartition(": ")[0].partition(":")[2] for line in findings("m.py", source)]
    assert lines == expected


def test_examples_of_what_to_avoid_are_exempt() -> None:
    text = "nobody\n<!-- language: off -->\nnobody\n<!-- language: on -->\nnobody\n"
    assert [line.split(":")[1] for line in findings("a.md", text)] == ["1", "5"]
