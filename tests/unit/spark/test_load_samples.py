import json
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from ballast.model.load_samples import (
    MAX_PARTITIONS_PER_SAMPLE,
    LoadSampleRejected,
    decode_sample,
    encode_sample,
)
from ballast.reassign.generate.job_load import JobLoad
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_samples import load_samples, samples_of
from tests.fakes.load_samples import made_sample
from tests.unit.spark.loads import BEGIN_MS, records
from tests.unit.spark.local import ON_SPARK

pytestmark = ON_SPARK

SAMPLE = made_sample("t", [5, 2**53], end_ms=BEGIN_MS)
DOCUMENT: dict[str, Any] = json.loads(encode_sample(SAMPLE))
TOO_MANY = {name: [0] * (MAX_PARTITIONS_PER_SAMPLE + 1) for name in DOCUMENT if name[-2:] != "Ms"}
WRONG: dict[str, dict[str, Any]] = {
    "another version": {"version": 2},
    "no broker": {"brokerId": None},
    "a broker below 0": {"brokerId": -1},
    "no topic": {"topic": ""},
    "a topic that is too long": {"topic": "t" * 250},
    "no time": {"startMs": BEGIN_MS},
    "no begin": {"startMs": None},
    "a begin below 0": {"startMs": -1},
    "fewer bytes than partitions": {"bytesIn": [5]},
    "fewer requests than partitions": {"fetchRequests": [1]},
    "more sizes than partitions": {"bytes": [1, 2, 3]},
    "no bytes": {"bytesIn": None},
    "a partition that is none": {"partitions": [0, None]},
    "a partition below 0": {"partitions": [0, -1]},
    "a partition that is too large": {"partitions": [0, 2**31]},
    "less than nothing": {"bytesIn": [5, -1]},
    "too much": {"bytesOut": [5, 2**53 + 1]},
    "words": {"bytesIn": ["a", "b"]},
    "too many partitions": {**TOO_MANY, "version": 1, "brokerId": 1, "topic": "t"},
}


def encoded(changes: dict[str, Any]) -> bytes:
    return json.dumps({**DOCUMENT, **changes}).encode()


def test_samples_are_what_the_model_says(session: SparkSession) -> None:
    """What one process refuses is passed over here, and nothing else."""
    without_version = {name: value for name, value in DOCUMENT.items() if name != "version"}
    good = [
        encoded({"later": "field"}),
        json.dumps(without_version).encode(),
        encoded({name: [] for name, value in DOCUMENT.items() if isinstance(value, list)}),
    ]
    for value in good:
        decode_sample(value)
    bad = [encoded(changes) for changes in WRONG.values()]
    for value in bad:
        with pytest.raises(LoadSampleRejected):
            decode_sample(value)
    found = samples_of(records(session, [SAMPLE], *good, *bad, b"", b"{", b"[]", b"\xff")).collect()
    assert [len(row.counted) for row in found] == [2, 2, 2, 0]
    assert [tuple(one) for one in found[0].counted] == [(0, 5), (1, 2**53)]
    assert {(row.topic, row.start_ms, row.end_ms) for row in found} == {
        ("t", SAMPLE.start_ms, SAMPLE.end_ms)
    }


def test_without_its_jars_it_is_said_what_is_missing(session: SparkSession) -> None:
    """With them, tests/interop/test_spark_load.py reads."""
    load = JobLoad(bootstrap_servers="127.0.0.1:1", partitions=1, since_ms=0, until_ms=1)
    with pytest.raises(PlanJobFailed, match=r"no Kafka source .*requirements/spark-jars\.txt"):
        load_samples(session, load)
