import gzip
from pathlib import Path

import pytest

from ballast.cli.plan.files import (
    FileUnusable,
    load_snapshot,
    read_plan_file,
    write_file,
)
from ballast.planner.errors import SnapshotRejected
from ballast.planner.explain.target import Target
from ballast.planner.snapshot.columns import pad_to_width
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot.lines import write_snapshot
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.planned_lines import planned_lines
from tests.unit.planner.builders import ids, unracked

CLUSTER = unracked(3, [[0, 1], [1, 2]])


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz"])
def test_a_snapshot_is_written_and_loaded(tmp_path: Path, name: str) -> None:
    brokers = [BrokerEntry(id=broker) for broker in (1, 2)]
    topic = TopicEntry(topic="t", replicas=[[1, 2], [2]])
    write_file(tmp_path / name, write_snapshot(brokers, [topic]))
    columns = load_snapshot(tmp_path / name)
    assert ids(columns, columns.replicas) == [(1, 2), (2,)]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileUnusable, match=r"none cannot be read: .*No such file"):
        load_snapshot(tmp_path / "none")
    with pytest.raises(FileUnusable, match=r"none cannot be read: .*No such file"):
        list(read_plan_file(tmp_path / "none"))
    with pytest.raises(FileUnusable, match="cannot be written"):
        write_file(tmp_path / "no" / "file", [b"x"])
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(SnapshotRejected, match="line 1"):
        load_snapshot(tmp_path / "empty")


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "plan"
    path.write_bytes(b"before")

    def broken() -> object:
        yield b"half"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_file(path, broken())  # type: ignore[arg-type]
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_content_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_file(tmp_path / name, [b"one", b"two"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"onetwo"


@pytest.mark.parametrize("name", ["plan", "plan.gz"])
def test_a_plan_is_written_and_read(tmp_path: Path, name: str) -> None:
    targets = pad_to_width(CLUSTER.replicas, 2).copy()
    targets[0] = [2, 1]
    lines = list(planned_lines(CLUSTER, Target(replicas=targets)))
    write_file(tmp_path / name, (line.encode() + b"\n" for line in lines))
    assert list(read_plan_file(tmp_path / name)) == lines


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"topic":"t"}\n', PlanRejected),
        (b"\x1f\x8b", PlanRejected),
    ],
)
def test_a_plan_that_is_none(tmp_path: Path, content: bytes, error: type[Exception]) -> None:
    (tmp_path / "plan").write_bytes(content)
    with pytest.raises(error, match="line 1: not a line of a plan"):
        list(read_plan_file(tmp_path / "plan"))
    (tmp_path / "plan.gz").write_bytes(content)
    with pytest.raises(FileUnusable, match=r"plan.gz cannot be read"):
        list(read_plan_file(tmp_path / "plan.gz"))
