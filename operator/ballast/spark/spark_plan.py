"""A plan on Spark: the steps over blocks, and between them what is for the driver to find out.

::

    blocks ──mapInArrow──► surveys ──collect──► quotas ──broadcast──┐
      ┌───────────────────────┘                                     │
      └────mapInArrow──► placed ◄───────────────────────────────────┘
             placed ──collect who leads──► shares ──broadcast──► mapInArrow ──► lines

The same functions in the same order as `ballast.planner.plan`, over the same blocks: so the plan
is the same, however many executors there are. Where bytes are left uneven, places are found in two
turns. A task takes some blocks, one by one: what the driver and a task hold does not grow with the
cluster. A plan that goes by load begins with the rates of each block's partitions, which the
samples of load are gathered into.
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
from ballast.spark.block_distribution import hand_out
from ballast.spark.block_tasks import (
    PLACED,
    PLACES,
    PLANNED,
    SURVEYED,
    Step,
    evening,
    leading,
    listing,
    placing,
    planning,
    surveying,
    unpacked,
)
from ballast.spark.errors import PlanJobFailed
from ballast.spark.load_rates import LoadSamples, rates_by_block

_BLOCKS_PER_TASK = 8
"""At most: the driver holds the lines of one task's blocks at a time."""


def task_count(blocks: int, cores: int) -> int:
    """Return how many tasks share so many blocks: all cores get as many, and no task many."""
    rounds = -(-blocks // (cores * _BLOCKS_PER_TASK))
    return min(blocks, cores * rounds)


class SparkPlan:
    """A plan that has been computed: what it comes to, and its lines, which wait on disk.

    Used as a context: what waits is given up at its end. Raises `PlannerError` as the planner does.
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
        """``load`` takes the place of the rates that the snapshot may tell.

        Raises `PlanJobFailed` when there is none.
        """
        self._session = session
        self._options = options
        self._kept = ExitStack()
        with ExitStack() as on_failure:
            on_failure.enter_context(self._kept)
            snapshot = cut_snapshot(read, partitions_per_block)
            self._brokers: Sequence[BrokerEntry] = snapshot.brokers
            self._count = snapshot.count
            _set_up(session, has_samples=load is not None)
            self._tasks = task_count(snapshot.count, session.sparkContext.defaultParallelism)
            with ThreadPoolExecutor(1) as beside:
                # The first DataFrame of a session takes Java a second or two: meanwhile the texts
                # are written.
                blocks = beside.submit(self._blocks)
                self._texts = hand_out(session, snapshot.count, snapshot.pieces)
            self._planned = self._keep(self._plan(blocks.result(), load))
            self.explanation: Explanation = self._explained()
            on_failure.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    @property
    def brokers(self) -> BrokerColumns:
        """The brokers, as the explanation counts them."""
        return SnapshotCollector(self._brokers).columns().brokers

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the plan, without line feeds; one part of them is held at a time."""
        rows = self._planned.where(F.col("lines").isNotNull()).select("block", "lines")
        last = 0
        # Of a query, Spark 4.3 keeps each part that was read; of its RDD it does not.
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
            return blocks.mapInArrow(planning(self._brokers, self._options, self._texts), PLANNED)
        surveyed, surveys = self._surveys(blocks)
        quotas = assign_quotas(self.brokers, self._options, surveys)
        placed, told = self._told(surveyed, placing(self._options, quotas))
        again = redistribute_excess_bytes(quotas, [one.byte_loads for one in told])
        if again is not None:
            placed, told = self._told(placed, evening(self._options, again))
        step = leading(self._options, self._shares([one.leaders for one in told]))
        return placed.mapInArrow(step, PLANNED)

    def _told(self, frame: DataFrame, step: Step) -> tuple[DataFrame, list[PlacementSummary]]:
        placed = self._keep(frame.mapInArrow(step, PLACED))
        return placed, self._collected(placed)

    def _with_rates(self, blocks: DataFrame, load: LoadSamples) -> DataFrame:
        """Return the blocks with the rates of their partitions, in order as before."""
        places = blocks.mapInArrow(listing(self._texts), PLACES)
        rates = rates_by_block(load, places)
        task = F.floor(F.col("block") * self._tasks / self._count).cast("int")
        joined = blocks.join(rates, "block", "left").repartitionById(self._tasks, task)
        told = self._keep(joined.sortWithinPartitions("block"))
        if told.where(F.col("rates").isNotNull()).isEmpty():
            raise PlanJobFailed(
                "the history of load has no sample of that time that tells of any topic: there is "
                "nothing to plan by"
            )
        return told

    def _surveys(self, blocks: DataFrame) -> tuple[DataFrame, list[BlockSummary]]:
        """Return the blocks as they were read, and what they tell.

        They are read once more when they name brokers that nobody told of.
        """
        surveyed, found = self._looked_at(blocks)
        unknown = {i for one in found if isinstance(one, list) for i in one}
        if unknown:
            self._brokers = with_unknown_brokers(self._brokers, unknown)
            surveyed, found = self._looked_at(blocks)
        return surveyed, found

    def _looked_at(self, blocks: DataFrame) -> tuple[DataFrame, list[Any]]:
        step = surveying(self._brokers, self._options, self._texts)
        surveyed = self._keep(blocks.mapInArrow(step, SURVEYED))
        return surveyed, self._collected(surveyed)

    def _explained(self) -> Explanation:
        told = self._planned.where(F.col("found").isNotNull())
        found = self._collected(told)
        self._brokers = with_unknown_brokers(
            self._brokers, {i for unknown, _ in found for i in unknown}
        )
        return merge_explanations([told for _, told in found])

    def _shares(self, led: Sequence[LeaderCounts | None]) -> Sequence[ReplicaTargets | None]:
        known = [one for one in led if one is not None]
        if len(known) < len(led):
            return [None] * len(led)
        situation = block_view(without_partitions(self.brokers), self._options)
        return block_leader_targets(situation, known)

    def _keep(self, frame: DataFrame) -> DataFrame:
        kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.callback(kept.unpersist)
        return kept

    def _collected(self, frame: DataFrame) -> list[Any]:
        """Return what each block has found, in order. Raises what the first was refused with."""
        rows = frame.select("block", "found").collect()
        return [unpacked(bytes(row.found)) for row in sorted(rows, key=lambda row: row.block)]


def _set_up(session: SparkSession, *, has_samples: bool) -> None:
    """Leave out what Spark does for tables with many rows, but for samples of load."""
    session.conf.set("spark.sql.adaptive.enabled", has_samples)
    session.conf.set("spark.sql.codegen.wholeStage", has_samples)
    session.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if has_samples else "NO_CODEGEN")
