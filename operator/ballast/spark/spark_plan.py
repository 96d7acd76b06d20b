"""Runs the planner's per-block steps on executors, by ``mapInArrow``.

Between steps the driver combines the block summaries and broadcasts quotas::

    blocks --mapInArrow--> summaries --collect--> quotas --broadcast---+
      +-----------------------+                                        |
      +----mapInArrow--> placed <--------------------------------------+
             placed --collect--> leader targets --broadcast--> mapInArrow --> lines

The functions, their order and the blocks are those of `ballast.planner.plan`, so the plan is the
same for any number of executors. If bytes remain unbalanced across blocks, there is a second
placement step. A task handles some blocks, one by one: the memory of the driver and of a task does
not grow with the cluster. A plan by load starts with the rates of each block's partitions
(`load_rates`).

"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.storagelevel import StorageLevel

from ballast.planner.explain.explain import Explanation
from ballast.planner.explain.explain_blocks import merge_explanations
from ballast.planner.leaders.shares import LeaderCounts, block_leader_targets
from ballast.planner.options import PlanOptions
from ballast.planner.problem.replica_targets import ReplicaTargets
from ballast.planner.sharding.block_quotas import assign_quotas
from ballast.planner.sharding.block_summary import BlockSummary, block_view
from ballast.planner.sharding.cross_block_balance import redistribute_excess_bytes
from ballast.planner.sharding.steps import PlacementSummary
from ballast.planner.snapshot.blocks import PARTITIONS_PER_BLOCK, without_partitions
from ballast.planner.snapshot.blocks_text import Reading, cut_snapshot, with_unknown_brokers
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import BrokerColumns
from ballast.planner.snapshot.entries import BrokerEntry
from ballast.spark.block_distribution import distribute_texts
from ballast.spark.block_tasks import (
    PLACED,
    PLACES,
    PLANNED,
    SUMMARIZED,
    Step,
    leading_step,
    listing_step,
    placing_step,
    planning_step,
    rebalancing_step,
    summarizing_step,
    unpickled,
)
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_rates import LoadSamples, rates_by_block

_BLOCKS_PER_TASK = 8
"""Per task at most: the driver holds the lines of one task's blocks at a time."""


def task_count(blocks: int, cores: int) -> int:
    """Return the number of tasks for this number of blocks: the same number for each core."""
    rounds = -(-blocks // (cores * _BLOCKS_PER_TASK))
    return min(blocks, cores * rounds)


class SparkPlan:
    """A computed plan: its explanation, and its lines, which are persisted on disk.

    A context manager: the persisted data is released at its end. Raises `PlannerError` as the
    planner does.
    """

    def __init__(
        self,
        session: SparkSession,
        read: Reading,
        options: PlanOptions,
        *,
        load: LoadSamples | None = None,
        partitions_per_block: int = PARTITIONS_PER_BLOCK,
    ) -> None:
        """``load`` replaces the rates of the snapshot.

        Raises `PlanJobFailed` when it has no sample.
        """
        self._session = session
        self._options = options
        self._persisted = ExitStack()
        with ExitStack() as on_failure:
            on_failure.enter_context(self._persisted)
            snapshot = cut_snapshot(read, partitions_per_block)
            self._brokers: Sequence[BrokerEntry] = snapshot.brokers
            self._count = snapshot.count
            _set_up(session, has_samples=load is not None)
            self._tasks = task_count(snapshot.count, session.sparkContext.defaultParallelism)
            with ThreadPoolExecutor(1) as beside:
                # Java needs a second or two for the first DataFrame of a session; the texts are
                # written meanwhile.
                blocks = beside.submit(self._blocks)
                self._texts = distribute_texts(session, snapshot.count, snapshot.pieces)
            self._planned = self._keep(self._plan(blocks.result(), load))
            self.explanation: Explanation = self._merged_explanation()
            on_failure.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._persisted.close()

    @property
    def brokers(self) -> BrokerColumns:
        """The brokers, at the indices that the explanation uses."""
        return SnapshotCollector(self._brokers).columns().brokers

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the plan, without line feeds; only one task's lines are in memory."""
        rows = self._planned.where(F.col("lines").isNotNull()).select("block", "lines")
        last = 0
        # A query in Spark 4.3 keeps each part that was read; its RDD does not.
        for row in rows.rdd.toLocalIterator(prefetchPartitions=True):
            if row.block < last:
                raise PlanJobFailed(f"block {row.block} of the plan came after block {last}")
            last = row.block
            yield from bytes(row.lines).splitlines()

    def _blocks(self) -> DataFrame:
        """Return the numbers of the blocks, in order."""
        return self._session.range(0, self._count, 1, self._tasks).toDF("block")

    def _plan(self, blocks: DataFrame, load: LoadSamples | None) -> DataFrame:
        if load is not None:
            blocks = self._with_rates(blocks, load)
        if self._count == 1:
            step = planning_step(self._brokers, self._options, self._texts)
            return blocks.mapInArrow(step, PLANNED)
        summarized, block_summaries = self._summaries(blocks)
        quotas = assign_quotas(self.brokers, self._options, block_summaries)
        placed, summaries = self._place(summarized, placing_step(self._options, quotas))
        new_quotas = redistribute_excess_bytes(quotas, [one.byte_loads for one in summaries])
        if new_quotas is not None:
            placed, summaries = self._place(placed, rebalancing_step(self._options, new_quotas))
        step = leading_step(self._options, self._leader_targets([one.leaders for one in summaries]))
        return placed.mapInArrow(step, PLANNED)

    def _place(self, frame: DataFrame, step: Step) -> tuple[DataFrame, list[PlacementSummary]]:
        placed = self._keep(frame.mapInArrow(step, PLACED))
        return placed, self._collected(placed)

    def _with_rates(self, blocks: DataFrame, load: LoadSamples) -> DataFrame:
        """Return the blocks with the rates of their partitions, in the same order."""
        places = blocks.mapInArrow(listing_step(self._texts), PLACES)
        rates = rates_by_block(load, places)
        task = F.floor(F.col("block") * self._tasks / self._count).cast("int")
        joined = blocks.join(rates, "block", "left").repartitionById(self._tasks, task)
        summaries = self._keep(joined.sortWithinPartitions("block"))
        if summaries.where(F.col("rates").isNotNull()).isEmpty():
            raise PlanJobFailed(
                "the load history has no sample of any topic in that period: there is nothing to "
                "plan by"
            )
        return summaries

    def _summaries(self, blocks: DataFrame) -> tuple[DataFrame, list[BlockSummary]]:
        """Return the blocks as they were read, and their summaries.

        They are read again if they name brokers that the snapshot does not list.
        """
        summarized, results = self._summarize(blocks)
        unknown = {i for summary in results if isinstance(summary, list) for i in summary}
        if unknown:
            self._brokers = with_unknown_brokers(self._brokers, unknown)
            summarized, results = self._summarize(blocks)
        return summarized, results

    def _summarize(self, blocks: DataFrame) -> tuple[DataFrame, list[Any]]:
        step = summarizing_step(self._brokers, self._options, self._texts)
        summarized = self._keep(blocks.mapInArrow(step, SUMMARIZED))
        return summarized, self._collected(summarized)

    def _merged_explanation(self) -> Explanation:
        summaries = self._planned.where(F.col("result").isNotNull())
        results = self._collected(summaries)
        self._brokers = with_unknown_brokers(
            self._brokers, {i for unknown, _ in results for i in unknown}
        )
        return merge_explanations([summaries for _, summaries in results])

    def _leader_targets(
        self, leaders: Sequence[LeaderCounts | None]
    ) -> Sequence[ReplicaTargets | None]:
        present = [counts for counts in leaders if counts is not None]
        if len(present) < len(leaders):
            return [None] * len(leaders)
        situation = block_view(without_partitions(self.brokers), self._options)
        return block_leader_targets(situation, present)

    def _keep(self, frame: DataFrame) -> DataFrame:
        persisted = frame.persist(StorageLevel.DISK_ONLY)
        self._persisted.callback(persisted.unpersist)
        return persisted

    def _collected(self, frame: DataFrame) -> list[Any]:
        """Return the result of each block, in order. Raises the error of a refused block."""
        rows = frame.select("block", "result").collect()
        return [unpickled(bytes(row.result)) for row in sorted(rows, key=lambda row: row.block)]


def _set_up(session: SparkSession, *, has_samples: bool) -> None:
    """Switch off what Spark does for tables with many rows; samples of load need it."""
    session.conf.set("spark.sql.adaptive.enabled", has_samples)
    session.conf.set("spark.sql.codegen.wholeStage", has_samples)
    session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if has_samples else "NO_CODEGEN")
