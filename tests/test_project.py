"""What surrounds the code: the wheel, the labels of images, hooks, and the end of .ci/run."""

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CHART = yaml.safe_load((ROOT / "charts" / "ballast" / "Chart.yaml").read_text())


def check_subject(message: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "message"
    file.write_text(message)
    words = (str(ROOT / ".ci" / "commit-subject"), str(file))
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "message",
    [
        "planner: balance bytes before the second pass",
        "zk, candidate: retry a fenced write once\n\nThe reason.\n",
        "cli/plan: read .gz\n# a comment of git's\n",
        "Merge branch 'x'",
        f"zk: {'x' * 68}",
    ],
)
def test_subjects_of_the_form_are_accepted(message: str, tmp_path: Path) -> None:
    assert check_subject(message, tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (f"zk: {'x' * 69}", "at most 72"),
        ("Balance bytes", "not of the form"),
        ("planner balance bytes", "not of the form"),
        ("planner: balance bytes.", "full stop"),
        ("planner: balance\nbytes", "second line"),
    ],
)
def test_other_subjects_are_refused(message: str, reason: str, tmp_path: Path) -> None:
    done = check_subject(message, tmp_path)
    assert done.returncode == 1
    assert reason in done.stderr


def test_hooks_run_only_programs_of_the_repository() -> None:
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [repository["repo"] for repository in settings["repos"]] == ["local"]
    hooks = settings["repos"][0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system"}
    programs = {hook["entry"].split()[0] for hook in hooks}
    assert {name for name in programs if not name.startswith((".venv/bin/", ".ci/"))} == set()
    assert all((ROOT / name).exists() for name in programs if name.startswith(".ci/"))


def test_skipped_tests_are_grouped_by_what_they_want(tmp_path: Path) -> None:
    suite = tmp_path / "test_suite.py"
    suite.write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_chart(n): pytest.skip('needs helm on PATH')\n"
        "def test_client(): pytest.skip('kcat is not on PATH')\n"
        "def test_other(): pass\n"
    )
    report = tmp_path / "report.xml"
    words = ("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
    subprocess.run(
        (sys.executable, *words, f"--junitxml={report}", suite.name),
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    program = (sys.executable, str(ROOT / ".ci" / "skipped.py"), str(report))
    lines = subprocess.run(program, check=True, capture_output=True, text=True).stdout.splitlines()
    assert lines == [
        "3 tests were skipped (see CONTRIBUTING.md, Tests):",
        "     2  needs helm on PATH: test_suite",
        "     1  kcat is not on PATH: test_suite",
    ]


def test_the_wheel_has_license_readme_and_programs(tmp_path: Path) -> None:
    words = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (folder,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = archive.read(f"{folder}/METADATA").decode()
        programs = archive.read(f"{folder}/entry_points.txt").decode()
    assert {name.split("/")[0] for name in names} == {"ballast", folder}
    assert f"{folder}/licenses/LICENSE" in names
    assert "ballast/py.typed" in names
    assert f"Version: {PROJECT['version']}\n" in metadata
    assert "License-Expression: Apache-2.0\n" in metadata
    assert "# Ballast\n" in metadata
    assert set(re.findall(r"^([\w-]+) =", programs, re.MULTILINE)) == PROJECT["scripts"].keys()


def test_chart_image_and_wheel_have_one_version() -> None:
    labels = (ROOT / "Dockerfile").read_text()
    assert CHART["version"] == CHART["appVersion"] == PROJECT["version"]
    assert f"ARG VERSION={PROJECT['version']}\n" in labels
    assert labels.count('org.opencontainers.image.version="${VERSION}"') == 2
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()
