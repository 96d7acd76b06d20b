"""Spark's Kafka source reads what brokers wrote, and comes to the plan that one process makes."""

import asyncio
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ballast.model.load_features import AVERAGE, LoadFeatures
from ballast.model.load_samples import LoadSample
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.lines import read_snapshot
from ballast.planner.snapshot.load_history import LoadHistory
from ballast.reassign.generate.job_load import JobLoad
from tests.interop.local_cluster import ROOT, ballast, environment, running_cluster
from tests.interop.spark_jars import spark_jars
from tests.interop.spark_plans import BLOCK, BY_LOAD
from tests.interop.test_load_plans import BROKERS, HOT, create, write
from tests.unit.spark.loads import with_rates
from tests.unit.spark.plan_texts import plan_text

pytestmark = pytest.mark.timeout(900)

WINDOW_MS = 3_600_000
INTERVAL_MS = 2_000
SPARK_S = 500
FEATURES = (AVERAGE, LoadFeatures(percentile=90, by_hour_of_day=True, growth_seconds=60))
LOAD_PARTITIONS = 4
"""Of the topic with the history, as brokers make it."""


def after_the_samples() -> int:
    """Return a time after the intervals of now, once what was counted up to it is written.

    An interval ends, and its samples are written or dropped, within two intervals each.
    """
    until_ms = now_ms() + 2 * INTERVAL_MS
    while now_ms() < until_ms + 2 * INTERVAL_MS:
        time.sleep(0.2)
    return until_ms


def now_ms() -> int:
    return int(time.time() * 1000)  # noqa: TID251  (the brokers' clock)


def read_history(bootstrap_servers: str, since_ms: int, until_ms: int) -> list[LoadSample]:
    """Return the samples as the operator reads them."""

    async def read() -> list[LoadSample]:
        admin = AdminClient(parse_bootstrap_servers(bootstrap_servers), AdminOptions(client_id="t"))
        try:
            samples = admin.load_samples(since_ms=since_ms, max_bytes=2**26)
            return [one async for one in samples if one.end_ms <= until_ms]
        finally:
            await admin.close()

    return asyncio.run(read())


def planned_in_process(snapshot: Path, history: LoadHistory, features: LoadFeatures) -> bytes:
    columns = read_snapshot([with_rates(snapshot.read_bytes(), history, features)])
    return plan_text(columns, plan_targets(columns, BY_LOAD, partitions_per_block=BLOCK))


def planned_by_spark(snapshot: Path, loads: list[JobLoad], jars: list[Path]) -> list[str]:
    """Return the digest of each plan."""
    submit = f"--jars {','.join(map(str, jars))} pyspark-shell"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.interop.spark_plans", str(snapshot)),
            *(load.encode() for load in loads),
        ],
        env={
            **environment(),
            "PYTHONPATH": os.pathsep.join((str(ROOT / "operator"), str(ROOT))),
            "PYSPARK_SUBMIT_ARGS": submit,
        },
        capture_output=True,
        text=True,
        timeout=SPARK_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_the_plan_is_that_of_the_history_that_one_process_reads(tmp_path: Path) -> None:
    jars = spark_jars()
    snapshot = tmp_path / "snapshot"
    with running_cluster(
        tmp_path / "cluster",
        *("--brokers", str(BROKERS), "--controllers", "1"),
        *("--override", f"ballast.load.sample.interval.ms={INTERVAL_MS}"),
    ) as cluster:
        create(cluster)
        write(cluster)
        servers = cluster.bootstrap_servers
        taken = ballast("plan", "snapshot", "--bootstrap-server", servers, "--out", str(snapshot))
        assert taken.returncode == 0, taken.stderr
        until_ms = after_the_samples()
        since_ms = until_ms - WINDOW_MS
        samples = read_history(servers, since_ms, until_ms)
        loads = [
            JobLoad(
                bootstrap_servers=servers,
                partitions=LOAD_PARTITIONS,
                since_ms=since_ms,
                until_ms=until_ms,
                features=features,
            )
            for features in FEATURES
        ]
        found = planned_by_spark(snapshot, loads, jars)
    history = LoadHistory()
    for sample in samples:
        history.add(sample)
    texts = [planned_in_process(snapshot, history, features) for features in FEATURES]
    assert all(f'"topic":"{HOT}"'.encode() in text for text in texts)
    assert found == [hashlib.sha256(text).hexdigest() for text in texts]
