import io
from pathlib import Path
from typing import Any

import pytest

from ballast.cli.plan.capacities import read_capacities
from ballast.cli.plan.files import load_snapshot
from ballast.cli.plan.snapshot import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INVALID,
    main,
    read_window,
    snapshot,
)
from ballast.model.ids import TopicPartition
from ballast.model.load_features import LoadFeatures
from ballast.net.admin.load_rates import LoadWindow
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.fakes.load_samples import made_sample
from tests.unit.planner.builders import ids


def cluster() -> FakeCluster:
    made = FakeCluster(1, 2, 3)
    made.add("t", 0, 1, 2, size=50)
    made.add("t", 1, 2, 3, size=70)
    made.add("s", 0, 3, size=5)
    return made


NOW_MS = 1_700_000_000_000


async def taken(
    admin: FakeAdmin, path: Path, window: LoadWindow | None = None
) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    code = await snapshot(admin, path, out, errors, window, lambda: NOW_MS)
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
    assert columns.brokers.log_dirs == (("/data", "/data2", "/data3"),) * 3
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


async def test_with_a_window_it_tells_what_was_written(tmp_path: Path) -> None:
    admin = FakeAdmin(cluster())
    admin.samples = [
        made_sample("t", [6000, 60], end_ms=NOW_MS),
        made_sample("t", [0, 60], end_ms=NOW_MS - 60_000),
        made_sample("t", [9999, 9999], end_ms=NOW_MS - 3_600_000),
    ]
    path = tmp_path / "s"
    by_hour = LoadFeatures(by_hour_of_day=True)
    for window, rates in (
        (LoadWindow(), [0, 50, 1]),
        (LoadWindow(features=LoadFeatures(percentile=95)), [0, 100, 1]),
        (LoadWindow(length_ms=7_200_000, features=by_hour), [0, 167, 167]),
        (LoadWindow(features=LoadFeatures(growth_seconds=60)), [0, 250, 1]),
        (LoadWindow(length_ms=60_000), [0, 100, 1]),
    ):
        code, said, errors = await taken(admin, path, window)
        assert (code, errors) == (EXIT_DONE, "")
        columns = load_snapshot(path)
        assert columns.rates is not None
        assert columns.rates.tolist() == rates
    assert said.endswith("\nwith the load of 60 s\n")
    await taken(admin, path)
    assert load_snapshot(path).rates is None


async def test_without_a_history_nothing_is_written(tmp_path: Path) -> None:
    admin = FakeAdmin(cluster())
    admin.samples = [made_sample("t", [1, 1], end_ms=NOW_MS - 3_600_000)]
    code, said, errors = await taken(admin, tmp_path / "s", LoadWindow())
    assert (code, said) == (EXIT_FAILED, "")
    assert errors.startswith("--load-window: __ballast_load has no samples of the last 3600 s: ")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("length", "percentile", "window"),
    [
        (None, None, None),
        ("90s", None, LoadWindow(length_ms=90_000)),
        ("30m", 50, LoadWindow(length_ms=1_800_000, features=LoadFeatures(percentile=50))),
        ("1h", None, LoadWindow()),
        ("7d", None, LoadWindow(length_ms=604_800_000)),
    ],
)
def test_a_window_is_a_number_and_a_unit(
    length: str | None, percentile: int | None, window: LoadWindow | None
) -> None:
    assert read_window(length, percentile) == window


@pytest.mark.parametrize("length", ["", "1", "h", "0h", "-1h", "1w", "1.5h", "1234567890s", "1h "])
def test_another_window_is_refused(
    length: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(bootstrap_server="h:1", out=tmp_path / "s", load_window=length)
    assert code == EXIT_INVALID
    assert capsys.readouterr().err.startswith("--load-window: not a time such as 30m")


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        ({"load_percentile": 95}, "--load-percentile"),
        ({"load_by_hour_of_day": True}, "--load-by-hour-of-day"),
        ({"load_growth": "7d"}, "--load-growth"),
    ],
)
def test_what_is_asked_of_the_load_is_of_a_window(
    asked: dict[str, Any], option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(bootstrap_server="h:1", out=tmp_path / "s", **asked) == EXIT_INVALID
    assert capsys.readouterr().err == f"--load-window: is required by {option}\n"


@pytest.mark.parametrize(
    ("growth", "seconds"), [("60s", 60), ("7d", 604_800), ("365d", 31_536_000)]
)
def test_growth_is_a_time_too(growth: str, seconds: int) -> None:
    features = LoadFeatures(by_hour_of_day=True, growth_seconds=seconds)
    window = read_window("1h", by_hour_of_day=True, growth=growth)
    assert window == LoadWindow(features=features)


@pytest.mark.parametrize(
    ("growth", "reason"),
    [("week", "not a time such as"), ("59s", "not from"), ("366d", "not from")],
)
def test_another_growth_is_refused(
    growth: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s"
    code = main(bootstrap_server="h:1", out=path, load_window="1h", load_growth=growth)
    assert code == EXIT_INVALID
    assert capsys.readouterr().err.startswith(f"--load-growth: {reason}")


async def test_capacities_are_written(tmp_path: Path) -> None:
    out, errors = io.StringIO(), io.StringIO()
    path = tmp_path / "s.jsonl"
    told = read_capacities(["1Ki", "3=2Ki"])
    admin = FakeAdmin(cluster())
    assert await snapshot(admin, path, out, errors, capacities=told) == EXIT_DONE
    sizes = load_snapshot(path).brokers.capacity_bytes
    assert sizes is not None
    assert sizes.tolist() == [1024, 1024, 2048]
    told = read_capacities(["3=2Ki"])
    assert await snapshot(admin, path, out, errors, capacities=told) == EXIT_INVALID
    assert errors.getvalue() == "--capacity: says nothing of broker 1\n"
