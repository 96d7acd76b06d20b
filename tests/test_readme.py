"""The README is correct: its manifest runs, its commands exist, its map is complete."""

import re
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup

from ballast.broker.config.config import PROPERTIES
from ballast.cli.app import app
from ballast.cli.run.manifest_file import ManifestFile
from ballast.cli.servers.candidate_config import CandidateConfig
from ballast.model.ids import TopicPartition
from ballast.model.settings.fields import rows_of
from ballast.reassign.spec.spec import DesiredState

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
WORDS = re.sub(r"\s+", " ", README)
EXAMPLES = sorted(
    path
    for path in (ROOT / "crds" / "examples").glob("*.yaml")
    if "ballast run -f" in path.read_text()
)


def options_of(command: str) -> set[str]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    found = group.commands[command]
    below = found.commands.values() if isinstance(found, TyperGroup) else [found]
    assert all(isinstance(each, TyperCommand) for each in below)
    parameters = [parameter for each in below for parameter in each.params]
    return {word for parameter in parameters for word in parameter.opts if word.startswith("-")}


def commands() -> set[str]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return set(group.commands)


def mapped(indent: str) -> set[str]:
    """Return the first words of the lines in the file map that are indented so."""
    return set(re.findall(rf"^{indent}(\S+)  +\S", README, re.MULTILINE))


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 200


def test_the_manifest_is_accepted_and_says_what_the_text_says(tmp_path: Path) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    file = tmp_path / "move.yaml"
    file.write_text(block)
    spec = ManifestFile(file).read()
    assert spec.targets == {
        TopicPartition("orders", 0): (3, 2),
        TopicPartition("orders", 1): (3, 1),
    }
    assert spec.settings.desired_state is DesiredState.RUNNING
    assert spec.settings.execution.throttle_bytes_per_second == 10 * 1024 * 1024


def test_it_names_the_states_that_can_be_wished_for() -> None:
    for state in DesiredState:
        assert state is DesiredState.RUNNING or f"`{state}`" in WORDS or f": {state}`" in WORDS


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_are_accepted_by_the_command_line(example: Path) -> None:
    assert ManifestFile(example).read().targets


def test_every_command_is_in_the_table() -> None:
    assert set(re.findall(r"^\| `ballast ([a-z]+)", README, re.MULTILINE)) == commands()


def test_every_command_and_option_that_it_names_exists() -> None:
    called = re.findall(r"(?:bin/|`)ballast ([a-z]+)([^`|\n]*)", README)
    assert len(called) > len(commands())
    for command, words in called:
        named = set(re.findall(r"(?<!\w)--?[a-z][a-z-]*", words))
        assert named <= options_of(command), command


def test_the_tools_flags_that_it_names_exist() -> None:
    (flags,) = re.findall(r"flag for flag: `([^`]*)`", README)
    assert set(flags.split()) <= options_of("reassign")


def test_every_target_that_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4}|: )make ([a-z0-9]+)", README, re.MULTILINE))
    assert {"demo", "test", "venv", "lint"} <= named <= targets


def test_every_property_that_it_names_exists() -> None:
    of_controllers = {row.name for row in rows_of(CandidateConfig).values()}
    named = set(re.findall(r"`(ballast\.[a-z.]+)`", README))
    assert named == {"ballast.http.listener"}
    assert named <= PROPERTIES.keys() & of_controllers


def test_the_map_is_complete() -> None:
    source = ROOT / "operator" / "ballast"
    packages = {f"{path.parent.name}/" for path in source.glob("*/__init__.py")}
    assert mapped(" {6}") == packages
    tests = {
        f"tests/{path.name}/"
        for path in (ROOT / "tests").iterdir()
        if path.is_dir() and any(path.rglob("test_*.py"))
    }
    assert tests | {"tests/bench/"} <= mapped(" {4}")
    assert {name for name in mapped(" {4}") if not (ROOT / name).is_dir()} == set()
