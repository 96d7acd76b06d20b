"""Reads tutorials: the files that they show, the commands that they give, and the expected output.

A fenced block with ``title="name.ext"`` is a file; with ``sh`` and a title it is a list of commands
for that terminal; ``text`` with ``title="output"`` is a part of what the commands before it print.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
COMMANDS_TIMEOUT_S = 100

_BLOCK = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block with a title."""

    language: str
    title: str
    text: str

    @property
    def is_file(self) -> bool:
        """Whether the reader saves it under its title."""
        return "." in self.title

    @property
    def is_output(self) -> bool:
        """Whether it is a part of the output of the commands before."""
        return self.title == "output"


def blocks_of(tutorial: str) -> list[Block]:
    """Return the blocks of a page of docs/tutorials, in order."""
    return [Block(*match) for match in _BLOCK.findall((TUTORIALS / tutorial).read_text())]


def save_files(blocks: list[Block], directory: Path, replace: dict[str, str]) -> None:
    """Save the files that the tutorial shows, with some texts replaced."""
    for block in blocks:
        if block.is_file:
            (directory / block.title).write_text(replaced(block.text, replace))


def run_commands(block: Block, directory: Path, replace: dict[str, str]) -> str:
    """Run the commands as a reader would, stop at the first that fails; return what they print."""
    done = subprocess.run(
        ("/bin/bash", "-e", "-o", "pipefail", "-c", replaced(block.text, replace)),
        cwd=directory,
        env=environment(directory),
        capture_output=True,
        text=True,
        timeout=COMMANDS_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment(directory: Path) -> dict[str, str]:
    """Return an environment in which `ballast` and `python` are those of this source tree."""
    programs = directory / "bin"
    if not programs.exists():
        programs.mkdir()
        for name, words in (("ballast", "-m ballast"), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "operator"), "COLUMNS": "120"}


def replaced(text: str, replace: dict[str, str]) -> str:
    """Return the text with the texts replaced."""
    for old, new in replace.items():
        text = text.replace(old, new)
    return text
