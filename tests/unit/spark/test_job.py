import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from ballast.spark.errors import PlanJobFailed
from ballast.spark.job import main, run
from tests.fakes.config_maps import FakeConfigMaps
from tests.unit.spark.snapshots import WORK, chunked, snapshot_text


@contextmanager
def no_session() -> Iterator[Any]:
    raise AssertionError("nothing is to be computed")
    yield


@pytest.fixture
def maps() -> FakeConfigMaps:
    maps = FakeConfigMaps()
    chunked(maps, snapshot_text(topics=2))
    return maps


def test_options_that_do_not_go_together_are_no_plan(maps: FakeConfigMaps) -> None:
    said = run(maps, WORK, '{"strategy":"AddBrokers"}', no_session())
    assert said == "no such plan: brokerIds: is required for AddBrokers"
    document = json.loads(maps.documents["move-1-plan"]["data"]["infeasible"])
    assert document["rule"] == "brokerIds"


@pytest.mark.parametrize("text", ["{", "[]"])
def test_options_that_are_none(maps: FakeConfigMaps, text: str) -> None:
    with pytest.raises(PlanJobFailed, match="--options is not"):
        run(maps, WORK, text, no_session())


def test_a_load_that_is_none(maps: FakeConfigMaps) -> None:
    with pytest.raises(PlanJobFailed, match=r"--load: .*partitions"):
        run(maps, WORK, '{"strategy":"Rebalance"}', no_session(), load='{"bootstrapServers":"a"}')


def test_a_snapshot_must_be_there() -> None:
    with pytest.raises(PlanJobFailed, match="chunks only"):
        run(FakeConfigMaps(), WORK, '{"strategy":"Rebalance"}', no_session())


def test_every_argument_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--namespace", "prod"])
    assert "--options" in capsys.readouterr().err
