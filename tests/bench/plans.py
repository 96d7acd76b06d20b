"""``python -m tests.bench.plans [PARTITIONS]``: plans in chunks and in memory; a broker drained.

Prints seconds of processor time, and the most memory that the process has had up to each step; the
steps stand in the order of their memory. No part of ``make bench``: there is no floor beside it.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from ballast.planner.drain import drain_targets
from ballast.reassign.plan.chunks import Chunk, write_plan
from ballast.reassign.plan.plan import Plan
from ballast.reassign.plan.reader import read_plan, summarize
from tests.unit.planner.builders import level_cluster
from tests.unit.reassign.big_plans import big_plan

PARTITIONS = 1_000_000
DRAINED_PARTITIONS = 100_000
PER_TOPIC = 200
BROKERS = 1000

_Result = TypeVar("_Result")


def measured(what: str, work: Callable[[], _Result]) -> _Result:
    """Return what ``work`` returns, and print what it took."""
    began = time.process_time()
    result = work()
    seconds = time.process_time() - began
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what:40} {seconds:7.2f} s   peak {peak_mb:6.0f} MB")
    return result


def main(partitions: int) -> None:
    """Measure plans and a drain of so many partitions."""

    def moves() -> int:
        return sum(1 for _ in big_plan(partitions // PER_TOPIC, PER_TOPIC, brokers=BROKERS))

    count = measured("moves, made one by one", moves)
    written = measured(
        "the same, written in chunks",
        lambda: write_plan(big_plan(partitions // PER_TOPIC, PER_TOPIC, brokers=BROKERS)),
    )
    index, chunks = written.index("move"), [chunk.data for chunk in written.chunks]
    measured("chunks read and summed up", lambda: summarize(index, chunks))
    plan = measured("chunks read as a Plan", lambda: Plan.of_lines(read_plan(index, chunks)))
    measured("digest of the Plan", lambda: plan.digest)
    text, stored = (sum(column) for column in zip(*_sizes(written.chunks), strict=True))
    print(f"{count} partitions: {text} bytes of text in {len(chunks)} chunks of {stored} bytes")
    drained = min(partitions, DRAINED_PARTITIONS)
    snapshot = measured("a cluster", lambda: level_cluster(drained, 100, 10))
    targets = measured("one of 100 brokers drained", lambda: drain_targets(snapshot, {7}))
    print(f"{len(targets)} replicas moved")


def _sizes(chunks: tuple[Chunk, ...]) -> list[tuple[int, int]]:
    return [(chunk.text_bytes, len(chunk.data)) for chunk in chunks]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PARTITIONS)
