import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ballast.cli.run import run as command
from ballast.cli.run.manifest_file import ManifestFile
from ballast.cli.run.progress_view import LinesView
from ballast.cli.run.state_dir import StateDir
from ballast.model.ids import TopicPartition
from ballast.reassign.errors import StateMismatch
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.state.conditions import LifecycleState
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster

MANIFEST = """
apiVersion: ballast.dev/v1alpha1
kind: PartitionReassignment
metadata: {name: move}
spec:
  plan:
    assignments:
    - {topic: t, partition: 0, replicas: [1, 3]}
  desiredState: Running
  execution:
    throttle: {rate: 1Ki}
"""
T0 = TopicPartition("t", 0)


class WatchedClock(FakeClock):
    """A clock that calls back after each wait."""

    def __init__(self, then: Callable[[float], None]) -> None:
        super().__init__()
        self._then = then

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        self._then(self.seconds)


class House:
    def __init__(self, folder: Path) -> None:
        self.cluster = FakeCluster(1, 2, 3)
        self.cluster.add("t", 0, 1, 2, size=20_000)
        self.file = folder / "move.yaml"
        self.state_dir = folder / "state"
        self.out = io.StringIO()
        self.then: Callable[[float], None] = lambda _: None
        self.clock = WatchedClock(self._then)
        self.clock.cluster = self.cluster
        self.write(MANIFEST)

    def _then(self, seconds: float) -> None:
        self.then(seconds)

    def write(self, text: str) -> None:
        self.file.write_text(text)
        os.utime(self.file, ns=(0, self.file.stat().st_mtime_ns + 1))

    async def run(self) -> int:
        manifest = ManifestFile(self.file)
        spec = manifest.read()
        with StateDir(self.state_dir) as store:
            reconciler = Reconciler(admin=FakeAdmin(self.cluster), store=store, clock=self.clock)
            return await command.run(manifest, spec, reconciler, self.clock, LinesView(self.out))


async def test_a_manifest_is_carried_out(tmp_path: Path) -> None:
    house = House(tmp_path)
    assert await house.run() == 0
    assert house.cluster.replicas()[T0] == (1, 3)
    assert house.cluster.broker_configs == {1: {}, 2: {}, 3: {}}
    assert "Completed, 1/1 (100%)" in house.out.getvalue()
    assert await house.run() == 0, "run again, it has ended as before"


async def test_edits_take_effect_while_it_runs(tmp_path: Path) -> None:
    house = House(tmp_path)

    def then(seconds: float) -> None:
        if 105 < seconds < 106.5:
            house.write(MANIFEST.replace("[1, 3]", "[2, 3]"))
        if seconds > 107:
            house.write(MANIFEST.replace("Running", "Cancelled"))

    house.then = then
    assert await house.run() == 1
    assert house.cluster.replicas()[T0] == (1, 2)
    assert house.cluster.topic_configs == {"t": {}}
    assert "spec.plan: is immutable: make a new reassignment (edit ignored)" in house.out.getvalue()


async def test_another_plan_does_not_take_over_the_state(tmp_path: Path) -> None:
    house = House(tmp_path)
    await house.run()
    house.write(MANIFEST.replace("[1, 3]", "[2, 3]"))
    with pytest.raises(StateMismatch, match="another plan"):
        await house.run()


async def test_an_impossible_plan_is_a_bad_manifest(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.write(MANIFEST.replace("[1, 3]", "[1, 9]"))
    assert await house.run() == 2
    assert "spec.plan.assignments[0].replicas[1]: broker 9 does not exist" in house.out.getvalue()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (LifecycleState.COMPLETED, 0),
        (LifecycleState.FAILED, 1),
        (LifecycleState.CANCELLED, 1),
        (LifecycleState.ROLLED_BACK, 1),
        (LifecycleState.INVALID, 2),
    ],
)
def test_exit_codes(state: LifecycleState, code: int) -> None:
    assert command.exit_code(state) == code


def test_bad_manifests_end_with_2_and_the_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(MANIFEST.replace("1Ki", "fast"))
    assert command.main(file=file, bootstrap_server="localhost:1") == 2
    assert "spec.execution.throttle.rate: is not a quantity" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bootstrap_server": "nowhere"}, "not host:port"),
        ({"bootstrap_server": "h:1", "output": "xml"}, "--output must be text or json"),
    ],
)
def test_bad_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, str], message: str
) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(MANIFEST)
    assert command.main(file=file, **options) == 2  # type: ignore[arg-type]
    assert message in capsys.readouterr().err


def test_a_state_folder_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(MANIFEST)
    with StateDir(tmp_path / ".move.ballast"):
        assert command.main(file=file, bootstrap_server="localhost:1") == 2
    assert "in use by another run" in capsys.readouterr().err
