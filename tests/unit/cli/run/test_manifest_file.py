import os
from pathlib import Path

import pytest

from ballast.cli.run.manifest_file import ManifestFile, load_yaml
from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ManifestRejected
from ballast.reassign.spec.spec import DesiredState

EXAMPLES = Path(__file__).parents[4] / "crds" / "examples"
MANIFEST = """
apiVersion: ballast.dev/v1alpha1
kind: PartitionReassignment
metadata: {name: move}
spec:
  plan:
    assignments:
    - {topic: t, partition: 0, replicas: [1, 2]}
  desiredState: Running
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    return path


def rejected(text: str) -> str:
    with pytest.raises(ManifestRejected) as caught:
        load_yaml(text)
    return str(caught.value.errors[0])


def test_yaml_and_json_are_read() -> None:
    assert load_yaml("a: [1, 50Mi]") == {"a": [1, "50Mi"]}
    assert load_yaml('{"a": [1, "50Mi"]}') == {"a": [1, "50Mi"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x [1]\nb: *x", "(document): YAML aliases are not accepted"),
        ("a: &a {<<: *a}", "(document): YAML aliases are not accepted"),
        ("a: 1\na: 2", "(document): line 2: key 'a' is given twice"),
        ("1: 2", "(document): line 1: a key must be a string"),
        ("[" * 100, "(document): is nested too deeply or too large"),
        ("[" * 100_000, "(document): is nested too deeply or too large"),
        ("- 1\n" * 120_000, "(document): is nested too deeply or too large"),
        ("a: [", "(document): line"),
        ("--- a\n--- b", "(document): line 2"),
        ("a: !!python/object/apply:os.system [id]", "(document): line 1"),
        ("a: \x00", "(document): "),
        ("a: 2020-13-45", "(document): cannot be read: ValueError"),
        ("a: " + "9" * 5000, "(document): cannot be read: ValueError"),
    ],
)
def test_hostile_yaml_gives_typed_errors(text: str, reason: str) -> None:
    assert rejected(text).startswith(reason)


def test_a_generation_for_each_edit(tmp_path: Path) -> None:
    path = write(tmp_path / "m.yaml", MANIFEST)
    manifest = ManifestFile(path)
    first = manifest.read()
    assert (first.generation, first.name) == (1, "move")
    assert manifest.reread() is None
    write(path, MANIFEST + "\n# the same\n")
    assert manifest.reread() is None
    write(path, MANIFEST.replace("Running", "Paused"))
    second = manifest.reread()
    assert second is not None
    assert second.generation == 2
    assert second.settings.desired_state is DesiredState.PAUSED
    assert manifest.reread() is None


def test_what_may_not_be_edited(tmp_path: Path) -> None:
    path = write(tmp_path / "m.yaml", MANIFEST)
    manifest = ManifestFile(path)
    manifest.read()
    for text, field in (
        (MANIFEST.replace("[1, 2]", "[1, 3]"), "spec.plan: is immutable"),
        (MANIFEST.replace("name: move", "name: other"), "metadata.name: cannot be changed"),
        ("rubbish: 1", "apiVersion: is required"),
    ):
        write(path, text)
        with pytest.raises(ManifestRejected, match=field):
            manifest.reread()
        assert manifest.reread() is None, "said once for each change of the file"


def test_a_file_that_is_away_for_a_moment_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "m.yaml", MANIFEST)
    manifest = ManifestFile(path)
    manifest.read()
    path.unlink()
    assert manifest.reread() is None


def test_a_plan_in_kafkas_json_beside_the_manifest(tmp_path: Path) -> None:
    text = MANIFEST.replace(
        "assignments:\n    - {topic: t, partition: 0, replicas: [1, 2]}", "file: plan.json"
    )
    path = write(tmp_path / "m.yaml", text)
    with pytest.raises(ManifestRejected, match=r"spec.plan.file: .*plan.json cannot be read"):
        ManifestFile(path).read()
    write(
        tmp_path / "plan.json",
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3]}]}',
    )
    assert ManifestFile(path).read().targets == {TopicPartition("t", 0): (3,)}


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * (1024 * 1024 + 1)])
def test_files_that_are_no_manifest(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.yaml"
    path.write_bytes(content)
    with pytest.raises(ManifestRejected):
        ManifestFile(path).read()
    with pytest.raises(ManifestRejected, match="cannot be read: No such file"):
        ManifestFile(tmp_path / "none.yaml").read()


@pytest.mark.parametrize("name", ["move.yaml"])
def test_the_examples_that_say_so_run_without_kubernetes(name: str) -> None:
    assert ManifestFile(EXAMPLES / name).read().targets


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("configMapRef: {name: p}", "spec.plan.configMapRef: needs Kubernetes"),
        ("generate: {strategy: Rebalance}", "spec.plan.generate: needs Kubernetes"),
    ],
)
def test_plans_that_are_not_at_hand_are_refused(tmp_path: Path, plan: str, reason: str) -> None:
    head, _, _ = MANIFEST.partition("    assignments")
    path = write(tmp_path / "m.yaml", f"{head}    {plan}\n")
    with pytest.raises(ManifestRejected, match=reason):
        ManifestFile(path).read()
