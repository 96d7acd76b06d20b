import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ballast.cli.kubectl.client import BROKER_SETS, CONFIG_MAPS, REASSIGNMENTS
from ballast.cli.kubectl.plugin import app
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.plan import Plan
from tests.fakes.kubectl import FakeKubectl
from tests.unit.commands.kubectl_documents import (
    PLAN,
    UID,
    broker_set,
    reassignment,
    saved_state,
)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    made = FakeKubectl(tmp_path)
    monkeypatch.setenv("PATH", str(made.folder))
    return made


def run(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}).invoke(app, words)


def test_status(fake: FakeKubectl) -> None:
    fake.add(BROKER_SETS, broker_set())
    fake.add(REASSIGNMENTS, reassignment())
    ended = run("status", "-n", "kafka")
    assert ended.exit_code == 0
    assert [line.split()[:3] for line in ended.stdout.splitlines() if line] == [
        ["BROKER", "SET", "READY"],
        ["prod", "2/3", "16"],
        ["BROKER", "SET", "BROKER"],
        ["prod", "1", "prod-broker-1"],
        ["prod", "2", "prod-broker-2"],
        ["prod", "3", "prod-broker-3"],
        ["REASSIGNMENT", "BROKER", "SET"],
        ["move", "prod", "Executing"],
    ]
    assert all("--namespace=kafka" in call for call in fake.calls)


def test_nothing_there(fake: FakeKubectl) -> None:
    assert run("status").stdout == "No broker sets and no reassignments here.\n"
    assert [call[2] for call in fake.calls] == [BROKER_SETS, REASSIGNMENTS]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("-n", "a", "--context", "b", "pause", "move"), id="before"),
        pytest.param(("pause", "move", "-n", "a", "--context", "b"), id="after"),
        pytest.param(("-n", "x", "--context", "b", "pause", "-n", "a", "move"), id="both"),
    ],
)
def test_flags_go_before_or_after(fake: FakeKubectl, words: tuple[str, ...]) -> None:
    fake.add(REASSIGNMENTS, reassignment())
    assert run(*words).exit_code == 0
    assert [call[1:3] for call in fake.calls] == [["--namespace=a", "--context=b"]] * 2


def test_plan(fake: FakeKubectl) -> None:
    fake.add(BROKER_SETS, broker_set())
    fake.add(REASSIGNMENTS, reassignment("AwaitingApproval"))
    fake.add(CONFIG_MAPS, saved_state()[0])
    ended = run("plan", "move")
    assert ended.exit_code == 0
    lines = ended.stdout.splitlines()
    assert lines[:4] == [
        "move: 2 partitions of 1 topics, 2 replicas to copy (2.0GiB), "
        "2 changes of preferred leader",
        f"digest {PLAN.digest}",
        "state AwaitingApproval",
        "Counts are those of the whole cluster; sizes with ~ are estimates.",
    ]
    row = ["3", "12", "10", "-2", "6", "4", "-2", "6.0GiB", "~4.0GiB"]
    assert row in [line.split() for line in lines]
    assert lines[-1].split() == ["after", "█" * 33 + "▍", "10"]


def test_many_brokers_are_shown_when_asked_for(fake: FakeKubectl) -> None:
    tps = [TopicPartition("t", number) for number in range(60)]
    plan = Plan.of(
        {tp: (tp.partition + 100,) for tp in tps}, {tp: (tp.partition % 3,) for tp in tps}
    )
    fake.add(REASSIGNMENTS, reassignment(plan=plan))
    fake.add(CONFIG_MAPS, saved_state(plan)[0])
    some, every = run("plan", "move"), run("plan", "move", "--all-brokers")
    assert some.stdout.splitlines()[-1] == "13 brokers that change less: --all-brokers"
    assert some.stdout.count("broker ") == 50
    assert every.stdout.count("broker ") == 63


def test_a_plan_without_a_broker_set(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment())
    fake.add(CONFIG_MAPS, saved_state()[0])
    assert "those of the plan's partitions" in run("plan", "move").stdout


@pytest.mark.parametrize(
    ("word", "desired"),
    [
        ("pause", "Paused"),
        ("resume", "Running"),
        ("cancel", "Cancelled"),
        ("rollback", "RolledBack"),
    ],
)
def test_steering(fake: FakeKubectl, word: str, desired: str) -> None:
    before = "Paused" if word == "resume" else "Running"
    fake.add(REASSIGNMENTS, reassignment(spec={"desiredState": before}))
    ended = run(word, "move")
    assert ended.exit_code == 0
    assert ended.stdout.startswith(f"move: desiredState {before} -> {desired}: ")
    assert fake.patches == [
        [REASSIGNMENTS, "move", {"metadata": {"uid": UID}, "spec": {"desiredState": desired}}]
    ]


def test_approving(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment("AwaitingApproval"))
    ended = run("approve", "move", "--digest", PLAN.digest)
    assert ended.exit_code == 0
    assert ended.stdout.splitlines()[-1] == f"approved plan {PLAN.digest}"
    assert [patch[2]["spec"] for patch in fake.patches] == [
        {"approval": {"planDigest": PLAN.digest}}
    ]


@pytest.mark.parametrize(("state", "code"), [("Completed", 0), ("Failed", 1), ("Cancelled", 1)])
def test_watching(fake: FakeKubectl, state: str, code: int) -> None:
    fake.add(REASSIGNMENTS, reassignment(state))
    ended = run("watch", "move")
    assert (ended.exit_code, ended.stdout) == (code, f"{state} - is {state}\n")


@pytest.mark.parametrize("command", ["plan", "approve", "pause", "watch"])
def test_what_is_not_there(fake: FakeKubectl, command: str) -> None:
    ended = run(command, "nowhere")
    assert fake.patches == []
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: Error from server (NotFound): ")


def test_a_refusal_of_the_api_server_is_passed_on(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment())
    fake.fail('The PartitionReassignment "move" is invalid: spec.desiredState:\x1b[2J no')
    ended = run("pause", "move")
    assert ended.exit_code == 1
    assert ended.stderr == (
        'error: The PartitionReassignment "move" is invalid: spec.desiredState:?[2J no\n'
    )


def test_names_are_no_flags(fake: FakeKubectl) -> None:
    ended = run("pause", "--", "--all")
    assert ended.exit_code == 1
    assert fake.calls[0][-2:] == ["--", "--all"]


def test_it_needs_nothing_of_the_operator() -> None:
    """Nor of the broker: it starts without their libraries."""
    program = (
        "import sys, ballast.cli.kubectl.plugin\n"
        "foreign = {'kopf', 'aiohttp', 'kazoo', 'uvloop', 'prometheus_client', 'crc32c', 'yaml'}\n"
        "sys.exit(', '.join(sorted(foreign & set(sys.modules))) or 0)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": ":".join(sys.path)},
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
