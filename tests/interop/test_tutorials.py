"""Every command of the tutorials does what the page says, but those that need Kubernetes.

Those are executed by tests/e2e/test_tutorial.py.
"""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.interop.ports import port_range
from tests.tutorials import TUTORIALS, Block, blocks_of, environment, replaced, run_commands
from tests.tutorials import save_files as save

READY = "bootstrap.servers="
EXECUTED = {"first-move.md", "plan-from-files.md", "kubernetes.md"}


def execute(blocks: list[Block], directory: Path, replace: dict[str, str]) -> None:
    """Run the blocks of commands in order, and compare with the output that the page shows."""
    printed = ""
    for block in blocks:
        if block.is_output:
            assert replaced(block.text, replace).strip() in printed
        elif block.language == "sh":
            printed = run_commands(block, directory, replace)


@contextmanager
def in_foreground(block: Block, directory: Path, replace: dict[str, str]) -> Iterator[None]:
    """Run the one command of terminal 1 until the block ends, then stop it as with Ctrl-C."""
    words = replaced(block.text, replace).split()
    words += ["--override", "ballast.load.sample.interval.ms=0"]
    with subprocess.Popen(
        words, cwd=directory, env=environment(directory), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None, "it is a pipe"
            assert any(line.startswith(READY) for line in process.stdout), "the cluster started"
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_first_move(tmp_path: Path) -> None:
    blocks = blocks_of("first-move.md")
    start, *others = (block for block in blocks if block.language == "sh" or block.is_output)
    with port_range() as base_port:
        replace = {"19092": str(base_port)}
        save(blocks, tmp_path, replace)
        with in_foreground(start, tmp_path, replace):
            execute(others, tmp_path, replace)


def test_a_plan_from_files(tmp_path: Path) -> None:
    blocks = blocks_of("plan-from-files.md")
    save(blocks, tmp_path, {})
    execute(blocks, tmp_path, {})
    assert "<svg" in (tmp_path / "plan.html").read_text()


def test_every_tutorial_is_executed() -> None:
    assert {path.name for path in TUTORIALS.glob("*.md")} == EXECUTED
