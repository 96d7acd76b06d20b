import pickle

import pytest

from ballast.planner.explain.explain import explain
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_whole
from ballast.planner.sharding.block_summary import BlockSummary, sum_summaries, summarize_block
from ballast.planner.snapshot.blocks import extract_block
from tests.unit.planner.builders import made

CLUSTER = made(
    {0: "a", 1: "a", 2: "b", 3: "c"},
    {"s": [[0, 1], [0, 2]], "t": [[0, 1], [1, 2]]},
    sizes={"s": [10, 20], "t": [40, 80]},
)
LEVEL = PlanOptions(strategy=Strategy.REBALANCE)


def as_lists(found: BlockSummary) -> list[object]:
    totals, use = found.totals, found.rack_bytes
    return [
        *(
            totals.partitions,
            totals.partitions_by_factor.tolist(),
            totals.replica_counts.tolist(),
            totals.assigned_counts.tolist(),
        ),
        *(
            totals.movable_counts.tolist(),
            found.movable_counts.tolist(),
            found.unassigned_count,
            found.unassigned_bytes,
        ),
        *(
            found.assigned_bytes.tolist(),
            found.movable_bytes.tolist(),
            use.movable.tolist(),
            use.total,
        ),
    ]


def test_what_a_block_tells() -> None:
    """Two partitions have both replicas in rack a: one of each has to go."""
    found = summarize_block(CLUSTER, LEVEL)
    assert found.totals.replica_counts.tolist() == [3, 3, 2, 0]
    assert found.unassigned_count == 2
    assert found.unassigned_bytes == 50
    assert int(found.totals.assigned_counts.sum()) == 6
    assert int(found.assigned_bytes.sum()) == 2 * 150 - 50
    assert found.shortage is None


def test_blocks_add_up_to_the_cluster() -> None:
    add = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(3,))
    parts = [summarize_block(extract_block(CLUSTER, n, n + 1), add) for n in range(2)]
    assert as_lists(sum_summaries(parts)) == as_lists(summarize_block(CLUSTER, add))


@pytest.mark.parametrize("strategy", [Strategy.STOCK, Strategy.PREFERRED_LEADERS])
def test_where_no_level_is_asked_for_only_copies_count(strategy: Strategy) -> None:
    options = PlanOptions(strategy=strategy)
    found = summarize_block(CLUSTER, options)
    assert found.unassigned_count == explain(CLUSTER, plan_whole(CLUSTER, options)).replica_moves
    assert (found.unassigned_count > 0) == (strategy is Strategy.STOCK)
    assert found.movable_counts.tolist() == [0, 0, 0, 0]


def test_where_there_is_no_room_all_blocks_count() -> None:
    away = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(1, 2, 3))
    parts = [summarize_block(extract_block(CLUSTER, n, n + 1), away) for n in range(2)]
    lack = sum_summaries(parts).shortage
    assert lack is not None
    assert (str(lack[0]), lack[2]) == ("s-0", 4)


def test_a_survey_travels() -> None:
    found = summarize_block(CLUSTER, LEVEL)
    assert as_lists(pickle.loads(pickle.dumps(found))) == as_lists(found)  # noqa: S301
