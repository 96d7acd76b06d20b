"""A plan on Spark: the steps over blocks, and between them what is for the driver to find out.

::

    blocks ──mapInArrow──► surveys ──collect──► quotas ──broadcast──┐
    blocks ◄────────────────────────────────────────────────────────┘
      └────mapInArrow──► placed ──collect who leads──► shares ──broadcast──► mapInArrow ──► lines

The same functions in the same order as `ballast.planner.targets`, over the same blocks: so the plan
is the same, however many executors there are and whatever blocks one of them has.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Self

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from ballast.planner.bands import Bands
from ballast.planner.blocks import PARTITIONS_PER_BLOCK, without_partitions
from ballast.planner.collector import SnapshotCollector
from ballast.planner.columns import BrokerColumns
from ballast.planner.explain import Explanation
from ballast.planner.explain_blocks import whole_explanation
from ballast.planner.leading import Led, share_out_leaders
from ballast.planner.options import PlanOptions
from ballast.planner.quotas import share_out_work
from ballast.planner.snapshot_blocks import Reading, cut_snapshot, with_strangers
from ballast.planner.snapshot_entries import BrokerEntry
from ballast.planner.survey import Survey, situation_of
from ballast.spark.batches import (
    BLOCKS,
    PLACED,
    PLANNED,
    SURVEYED,
    leading,
    placing,
    planning,
    surveying,
    unpacked,
)
from ballast.spark.errors import PlanJobFailed

_TASKS_PER_CORE = 2


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
        partitions_per_block: int = PARTITIONS_PER_BLOCK,
        tasks: int | None = None,
    ) -> None:
        """``tasks`` is into how many the blocks are laid; None = two for each core, at most."""
        self._session = session
        self._options = options
        self._kept: list[DataFrame] = []
        snapshot = cut_snapshot(read, partitions_per_block)
        self._brokers: Sequence[BrokerEntry] = snapshot.brokers
        blocks = self._frame(snapshot.texts, tasks)
        is_one = len(snapshot.texts) == 1
        planned = self._in_one(blocks) if is_one else self._in_blocks(blocks)
        self._planned = self._keep(planned)
        found = self._collected(self._planned.where("found is not null"))
        self._brokers = with_strangers(self._brokers, {i for unknown, _ in found for i in unknown})
        self.explanation: Explanation = whole_explanation([told for _, told in found])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for frame in self._kept:
            frame.unpersist()

    @property
    def brokers(self) -> BrokerColumns:
        """The brokers, as the explanation counts them."""
        return SnapshotCollector(self._brokers).columns().brokers

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the plan, without line feeds; one part of them is held at a time."""
        rows = self._planned.where("lines is not null").select("block", "lines")
        last = 0
        for row in rows.toLocalIterator(prefetchPartitions=True):
            if row.block < last:
                raise PlanJobFailed(f"block {row.block} of the plan came after block {last}")
            last = row.block
            yield from bytes(row.lines).splitlines()

    def _frame(self, texts: Sequence[bytes], tasks: int | None) -> DataFrame:
        rows = [(number, bytearray(text)) for number, text in enumerate(texts)]
        context = self._session.sparkContext
        if tasks is None:
            tasks = min(len(rows), _TASKS_PER_CORE * context.defaultParallelism)
        laid = context.parallelize(rows, tasks)
        return self._session.createDataFrame(laid, BLOCKS, verifySchema=False)

    def _in_one(self, blocks: DataFrame) -> DataFrame:
        return blocks.mapInArrow(planning(self._brokers, self._options), PLANNED)

    def _in_blocks(self, blocks: DataFrame) -> DataFrame:
        surveys = self._surveys(blocks)
        quotas = share_out_work(self.brokers, self._options, surveys)
        step = placing(self._brokers, self._options, quotas)
        placed = self._keep(blocks.mapInArrow(step, PLACED))
        led = self._collected(placed)
        step = leading(self._brokers, self._options, self._shares(led))
        return placed.mapInArrow(step, PLANNED)

    def _surveys(self, blocks: DataFrame) -> list[Survey]:
        """Return what the blocks tell; once more when they name brokers that nobody told of."""
        found = self._looked_at(blocks)
        unknown = {i for one in found if isinstance(one, list) for i in one}
        if unknown:
            self._brokers = with_strangers(self._brokers, unknown)
            found = self._looked_at(blocks)
        return found

    def _looked_at(self, blocks: DataFrame) -> list[Any]:
        return self._collected(blocks.mapInArrow(surveying(self._brokers, self._options), SURVEYED))

    def _shares(self, led: Sequence[Led | None]) -> Sequence[Bands | None]:
        known = [one for one in led if one is not None]
        if len(known) < len(led):
            return [None] * len(led)
        situation = situation_of(without_partitions(self.brokers), self._options)
        return share_out_leaders(situation, known)

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist(StorageLevel.DISK_ONLY))
        return frame

    def _collected(self, frame: DataFrame) -> list[Any]:
        """Return what each block has found, in order. Raises what the first was refused with."""
        rows = frame.select("block", "found").collect()
        return [unpacked(bytes(row.found)) for row in sorted(rows, key=lambda row: row.block)]
