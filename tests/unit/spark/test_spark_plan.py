"""The job on a real Spark, on two cores."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

import numpy as np
from pyspark.sql import SparkSession

from ballast.model.load_features import LoadFeatures
from ballast.planner.errors import Infeasible, SnapshotRejected
from ballast.planner.explain.explain import explain
from ballast.planner.explain.explanation_document import explanation_document
from ballast.planner.options import Objective, PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.sharding.block_quotas import assign_quotas
from ballast.planner.sharding.block_summary import summarize_block
from ballast.planner.sharding.cross_block_balance import redistribute_excess_bytes
from ballast.planner.sharding.steps import place_block
from ballast.planner.snapshot.blocks import extract_block
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot.lines import read_snapshot, write_snapshot
from ballast.planner.snapshot.load_history import LoadHistory
from ballast.reassign.plan.index import PlanIndex
from ballast.spark.errors import PlanJobFailed
from ballast.spark.job import run
from ballast.spark.load_rates import LoadSamples
from ballast.spark.load_samples import samples_of
from ballast.spark.spark_plan import SparkPlan, task_count
from tests.fakes.config_maps import FakeConfigMaps
from tests.unit.spark.loads import drawn_samples, records, with_rates
from tests.unit.spark.local import ON_SPARK
from tests.unit.spark.plan_texts import plan_text
from tests.unit.spark.snapshots import WORK, chunked, snapshot_text

BLOCK = 150
ADD = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(6, 7, 8))
LEVEL = PlanOptions(strategy=Strategy.REBALANCE)
BY_LOAD = PlanOptions(strategy=Strategy.REBALANCE, objective=Objective.BYTES_IN_PER_SECOND)

pytestmark = ON_SPARK


def pieces(text: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([text])


def written(columns: ClusterColumns) -> Iterator[bytes]:
    """Return a cluster with sizes as text."""
    brokers = [BrokerEntry(id=n, rack=f"r{n % 3}") for n in columns.brokers.ids.tolist()]
    starts = columns.topic_starts.tolist()
    assert columns.sizes is not None
    topics = [
        TopicEntry(
            topic=name,
            replicas=columns.replicas[first:last].tolist(),
            bytes=columns.sizes[first:last].tolist(),
        )
        for name, (first, last) in zip(columns.topics, pairwise(starts), strict=True)
    ]
    return write_snapshot(brokers, topics)


@pytest.mark.parametrize(
    ("options", "stranger", "topics"),
    [(ADD, None, 12), (LEVEL, 77, 12), (LEVEL, 77, 60)],
    ids=["brokers-added", "with-a-broker-not-told-of", "many-blocks"],
)
def test_the_plan_is_that_of_one_process(
    session: SparkSession, options: PlanOptions, stranger: int | None, topics: int
) -> None:
    """Whichever blocks are computed first, and in whatever order the topics came."""
    text = snapshot_text(topics=topics, stranger=stranger)
    columns = read_snapshot([text])
    targets = plan_targets(columns, options, partitions_per_block=BLOCK)
    expected = plan_text(columns, targets)
    summaries = explanation_document(columns.brokers, explain(columns, targets, has_details=False))
    with SparkPlan(session, pieces(text), options, partitions_per_block=BLOCK) as plan:
        assert b"".join(line + b"\n" for line in plan.lines()) == expected
        assert explanation_document(plan.brokers, plan.explanation) == summaries


def test_bytes_that_blocks_leave_uneven_are_evened_out_as_by_one_process(
    session: SparkSession,
) -> None:
    columns = read_snapshot([snapshot_text()])
    sizes = np.random.default_rng(2).lognormal(0, 2, columns.partitions)
    columns = replace(columns, sizes=(1e6 * sizes).astype(np.int64))
    cuts = range(0, len(columns.topics) + 1, BLOCK // 50)
    blocks = [extract_block(columns, first, last) for first, last in pairwise(cuts)]
    quotas = assign_quotas(
        columns.brokers, LEVEL, [summarize_block(block, LEVEL) for block in blocks]
    )
    summaries = [
        place_block(block, LEVEL, quota)[1] for block, quota in zip(blocks, quotas, strict=True)
    ]
    assert redistribute_excess_bytes(quotas, [one.byte_loads for one in summaries]) is not None
    expected = plan_text(columns, plan_targets(columns, LEVEL, partitions_per_block=BLOCK))
    text = b"".join(written(columns))
    with SparkPlan(session, pieces(text), LEVEL, partitions_per_block=BLOCK) as plan:
        assert b"".join(line + b"\n" for line in plan.lines()) == expected


@pytest.mark.parametrize(
    ("topics", "features"),
    [
        (12, LoadFeatures()),
        (2, LoadFeatures(percentile=90)),
        (12, LoadFeatures(percentile=90, by_hour_of_day=True, growth_seconds=86_400)),
    ],
    ids=["in-blocks", "in-one-by-percentile", "in-blocks-by-all-features"],
)
def test_rates_from_samples_give_the_plan_that_a_snapshot_with_them_gives(
    session: SparkSession, topics: int, features: LoadFeatures
) -> None:
    samples = drawn_samples(topics, 50)
    text = snapshot_text(topics=topics)
    history = LoadHistory()
    for sample in samples:
        history.add(sample)
    columns = read_snapshot([with_rates(text, history, features)])
    expected = plan_text(columns, plan_targets(columns, BY_LOAD, partitions_per_block=BLOCK))
    assert expected != plan_text(
        columns, plan_targets(replace(columns, rates=None), BY_LOAD, partitions_per_block=BLOCK)
    )
    load = LoadSamples(samples=samples_of(records(session, samples)), features=features)
    with SparkPlan(session, pieces(text), BY_LOAD, load=load, partitions_per_block=BLOCK) as plan:
        assert b"".join(line + b"\n" for line in plan.lines()) == expected


@pytest.mark.parametrize(
    ("blocks", "cores", "tasks"),
    [(1, 2, 1), (10, 2, 2), (16, 2, 2), (17, 2, 4), (100, 2, 14), (100, 16, 16), (5, 16, 5)],
)
def test_tasks_take_some_blocks_each_and_all_cores_as_many(
    blocks: int, cores: int, tasks: int
) -> None:
    assert task_count(blocks, cores) == tasks


def test_a_plan_by_load_needs_samples(session: SparkSession) -> None:
    samples = [sample for sample in drawn_samples(3, 2) if sample.topic == "elsewhere"]
    load = LoadSamples(samples=samples_of(records(session, samples)))
    with pytest.raises(PlanJobFailed, match="no sample of any topic in that period"):
        SparkPlan(session, pieces(snapshot_text()), BY_LOAD, load=load)


@pytest.mark.parametrize("block", [50, 10_000], ids=["blocks", "one-block"])
def test_log_directories_are_levelled_as_by_one_process(session: SparkSession, block: int) -> None:
    disks = dict.fromkeys(range(4), ("/a", "/b", "/c"))
    topics = {
        f"t{number}": [[(number % 4, "/a"), ((number + 1) % 4, "/b")]] * 20 for number in range(12)
    }
    text = b"".join(
        write_snapshot(
            [BrokerEntry(id=broker, log_dirs=paths) for broker, paths in disks.items()],
            [
                TopicEntry(
                    topic=topic,
                    replicas=[[broker for broker, _ in row] for row in rows],
                    bytes=[number + 1 for number in range(len(rows))],
                    log_dirs=[[path for _, path in row] for row in rows],
                )
                for topic, rows in topics.items()
            ],
        )
    )
    columns = read_snapshot([text])
    options = PlanOptions(strategy=Strategy.REBALANCE_LOG_DIRS)
    table = plan_targets(columns, options, partitions_per_block=block)
    expected = plan_text(columns, table, Strategy.REBALANCE_LOG_DIRS)
    assert expected
    summaries = explanation_document(
        columns.brokers, explain(columns, columns.replicas, log_dirs=table, has_details=False)
    )
    with SparkPlan(session, pieces(text), options, partitions_per_block=block) as plan:
        assert b"".join(line + b"\n" for line in plan.lines()) == expected
        assert explanation_document(plan.brokers, plan.explanation) == summaries


def test_lines_that_were_read_are_not_kept(session: SparkSession) -> None:
    """Java keeps none of them: a driver would otherwise come to hold the whole plan."""

    def read(times: int) -> int:
        return sum(len(line) for _ in range(times) for line in plan.lines())

    def live_bytes() -> int:
        assert session._jvm is not None
        runtime = session._jvm.java.lang.Runtime.getRuntime()
        runtime.gc()
        return int(runtime.totalMemory() - runtime.freeMemory())

    text = snapshot_text(topics=200, per_topic=100)
    with SparkPlan(session, pieces(text), LEVEL, partitions_per_block=10_000) as plan:
        read(5)
        before = live_bytes()
        assert (in_all := read(40)) > 6_000_000
        assert live_bytes() - before < in_all / 2


def test_a_small_cluster_is_one_block(session: SparkSession) -> None:
    text = snapshot_text(topics=3, stranger=77)
    columns = read_snapshot([text])
    expected = plan_text(columns, plan_targets(columns, LEVEL))
    with SparkPlan(session, pieces(text), LEVEL) as plan:
        assert b"".join(line + b"\n" for line in plan.lines()) == expected
        assert plan.brokers.ids.tolist() == [*range(9), 77]


def test_what_is_refused_is_raised(session: SparkSession) -> None:
    away = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=tuple(range(7)))
    with pytest.raises(Infeasible, match="has 3 replicas, and only 2 brokers stay") as caught:
        SparkPlan(session, pieces(snapshot_text()), away, partitions_per_block=BLOCK)
    assert caught.value.total == 600
    wrong = snapshot_text().replace(b"[0,4,", b"[4,4,", 1)
    with pytest.raises(SnapshotRejected, match="names a broker twice"):
        SparkPlan(session, pieces(wrong), ADD, partitions_per_block=BLOCK)


def test_the_whole_job_between_config_maps(session: SparkSession) -> None:
    maps, text = FakeConfigMaps(), snapshot_text()
    chunked(maps, text)
    asked = json.dumps({"strategy": "AddBrokers", "brokerIds": [6, 7, 8]})
    said = run(maps, WORK, asked, nullcontext(session), partitions_per_block=BLOCK)
    index = PlanIndex.decode(maps.documents["move-1-plan"]["data"]["index.json"])
    columns = read_snapshot([text])
    targets = plan_targets(columns, ADD, partitions_per_block=BLOCK)
    digest = hashlib.sha256(plan_text(columns, targets)).hexdigest()
    assert index.digest == f"sha256:{digest}"
    assert said.startswith(index.digest)
    summary = json.loads(maps.documents["move-1-plan"]["data"]["summary"])
    assert summary["replicaMoves"] == index.replica_moves == summary["replicaMovesLeast"] == 600
