import io
from pathlib import Path

import pytest
from rich.console import Console

from ballast.cli.kubectl.client import (
    REASSIGNMENTS,
    ClusterFlags,
    Kubectl,
    KubectlFailed,
    ObjectNotFound,
)
from ballast.cli.kubectl.watch import follow
from tests.fakes.kubectl import FakeKubectl
from tests.unit.commands.kubectl_documents import reassignment

KUBECTL = Kubectl(ClusterFlags())


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeKubectl:
    made = FakeKubectl(tmp_path)
    monkeypatch.setenv("PATH", str(made.folder))
    return made


class Watcher:
    """Watches on a screen of its own and waits in no time."""

    def __init__(self, *, terminal: bool = False) -> None:
        self.out = io.StringIO()
        self.waits: list[float] = []
        self.console = Console(file=self.out, width=200, force_terminal=terminal)

    def follow(self) -> bool:
        return follow(KUBECTL, "move", self.console, 2.0, self.waits.append)

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def test_a_line_whenever_something_is_new(fake: FakeKubectl) -> None:
    half = {"summary": "1/2 (50%)", "bytesRemaining": 1024, "bytesPerSecond": 512, "eta": "2s"}
    fake.add(
        REASSIGNMENTS,
        reassignment("Queued"),
        reassignment(status={"progress": half}),
        reassignment(status={"progress": half}),
        reassignment("Completed"),
    )
    watcher = Watcher()
    assert watcher.follow()
    assert watcher.lines == [
        "Queued",
        "Executing, 1/2 (50%), 1.0KiB to go, 512B/s, ETA 2s",
        "Completed - is Completed",
    ]
    assert watcher.waits == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("state", ["Failed", "Cancelled", "RolledBack"])
def test_another_end_is_no_success(fake: FakeKubectl, state: str) -> None:
    fake.add(REASSIGNMENTS, reassignment(state))
    assert not Watcher().follow()


def test_short_troubles_are_outlasted(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment("Completed"))
    fake.fail("Unable to connect to the server: no route", "Unable to connect")
    watcher = Watcher()
    assert watcher.follow()
    assert watcher.lines[0] == "Unable to connect to the server: no route (trying again)"
    assert len(watcher.waits) == 2


def test_long_troubles_are_not(fake: FakeKubectl) -> None:
    fake.add(REASSIGNMENTS, reassignment("Completed"))
    fake.fail(*["Unable to connect"] * 10)
    watcher = Watcher()
    with pytest.raises(KubectlFailed, match="Unable to connect"):
        watcher.follow()
    assert len(watcher.waits) == 9


def test_what_is_deleted_has_an_end(fake: FakeKubectl) -> None:
    assert fake.calls == []
    with pytest.raises(ObjectNotFound):
        Watcher().follow()


def test_on_a_terminal(fake: FakeKubectl) -> None:
    progress = {"partitions": {"completed": 1, "pending": 1}, "summary": "1/2 (50%)"}
    fake.add(
        REASSIGNMENTS,
        reassignment("Paused", status={"progress": progress}),
        reassignment("Completed"),
    )
    watcher = Watcher(terminal=True)
    assert watcher.follow()
    assert "move: Paused, 1/2 (50%)" in watcher.out.getvalue()
    assert "move: Completed - is Completed" in watcher.out.getvalue()
    assert watcher.out.getvalue().count("━") > 60
