import io
from pathlib import Path

import pytest

from ballast.commands.plan_files import load_snapshot
from ballast.commands.plan_snapshot import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INVALID,
    main,
    snapshot,
)
from ballast.model.ids import TopicPartition
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.unit.planner.made import ids


def cluster() -> FakeCluster:
    made = FakeCluster(1, 2, 3)
    made.add("t", 0, 1, 2, size=50)
    made.add("t", 1, 2, 3, size=70)
    made.add("s", 0, 3, size=5)
    return made


async def taken(admin: FakeAdmin, path: Path) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = await snapshot(admin, path, out, errors)
    return code, out.getvalue(), errors.getvalue()


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz"])
async def test_a_cluster_is_written_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    code, said, errors = await taken(FakeAdmin(cluster()), path)
    assert (code, errors) == (EXIT_DONE, "")
    assert said == f"3 brokers, 3 partitions: {path}\n"
    columns = load_snapshot(path)
    assert columns.topics == ("s", "t")
    assert ids(columns, columns.replicas) == [(3,), (1, 2), (2, 3)]
    assert columns.sizes is not None
    assert columns.sizes.tolist() == [5, 50, 70]
    assert columns.leaders is not None
    assert columns.leaders.tolist() == [2, 0, 1]
    assert columns.brokers.log_dirs == (("/data",),) * 3
    assert columns.log_dirs is not None


async def test_what_moves_stands_where_it_goes(tmp_path: Path) -> None:
    admin = FakeAdmin(cluster())
    await admin.alter_reassignments({TopicPartition("t", 0): (3, 2)})
    await taken(admin, tmp_path / "s")
    columns = load_snapshot(tmp_path / "s")
    assert ids(columns, columns.replicas)[1] == (3, 2)


async def test_a_broker_that_is_down_is_not_among_the_brokers(tmp_path: Path) -> None:
    stopped = cluster()
    stopped.stop(3)
    code, _, _ = await taken(FakeAdmin(stopped), tmp_path / "s")
    assert code == EXIT_DONE
    columns = load_snapshot(tmp_path / "s")
    assert columns.brokers.ids[columns.brokers.cordoned].tolist() == [3]
    assert columns.leaders is not None
    assert columns.leaders.tolist() == [-1, 0, 1]


async def test_a_broker_that_does_not_tell_its_sizes_is_named(tmp_path: Path) -> None:
    admin = FakeAdmin(cluster())
    admin.unreachable.add(2)
    code, _, errors = await taken(admin, tmp_path / "s")
    assert code == EXIT_DONE
    assert errors.startswith("sizes on broker 2 are not known: ")
    columns = load_snapshot(tmp_path / "s")
    assert columns.sizes is not None
    assert columns.sizes.tolist() == [5, 50, 70]


async def test_no_cluster_and_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    admin = FakeAdmin(cluster())
    assert (await taken(admin, tmp_path / "none" / "s"))[0] == EXIT_INVALID
    admin.is_available = False
    code, _, errors = await taken(admin, tmp_path / "s")
    assert code == EXIT_FAILED
    assert errors.startswith("the cluster does not answer: ")
    assert not (tmp_path / "s").exists()
    assert main(bootstrap_server="nowhere", out=tmp_path / "s") == EXIT_INVALID
    assert capsys.readouterr().err == "--bootstrap-server: not host:port: 'nowhere'\n"
