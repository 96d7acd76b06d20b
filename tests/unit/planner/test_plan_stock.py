"""Plans beside what Kafka's ``--generate`` proposes for the same end: never worse, by any measure.

The measures are those of a plan's explanation, but for what the busiest broker gets: a new one gets
its whole share where all end level, and less where they do not.
"""

from dataclasses import replace

import pytest

from ballast.planner.arrays import Ints
from ballast.planner.explain.applying import applied
from ballast.planner.explain.explain import Explanation, explain
from ballast.planner.explain.target import Target, changes
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import level_cluster

OLD, NEW = 21, 3
EVERYONE = tuple(range(OLD + NEW))


def unevenness(summary: Explanation, amounts: Ints) -> int:
    spread = summary.spread(amounts)
    return spread.most - spread.least


def measures(summary: Explanation) -> dict[str, float]:
    """Return what is better when it is less."""
    return {
        "replica moves": summary.replica_moves,
        "leader changes": summary.leader_changes,
        "several moves of a partition": summary.several_moves,
        "rack violations": summary.rack_violations[1],
        "unevenness of replicas": unevenness(summary, summary.after.replicas),
        "unevenness of leaders": unevenness(summary, summary.after.leaders),
        "busiest broker out": int(summary.flows.replicas_out.max()),
    }


def worse(ours: Explanation, theirs: Explanation) -> dict[str, tuple[float, float]]:
    """Return the measures by which ours is worse, and how much they are."""
    pairs = {name: (value, measures(theirs)[name]) for name, value in measures(ours).items()}
    return {name: pair for name, pair in pairs.items() if pair[0] > pair[1]}


@pytest.mark.parametrize("block", [100_000, 400])
@pytest.mark.parametrize("racks", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_brokers_are_added_no_worse(racks: int, block: int, seed: int) -> None:
    cluster = level_cluster(1200, OLD, racks, new=NEW)
    stock = PlanOptions(strategy=Strategy.STOCK, broker_ids=EVERYONE, seed=seed)
    ours = PlanOptions(strategy=Strategy.REBALANCE, seed=seed)
    found = plan_targets(cluster, ours, partitions_per_block=block)
    summary = explain(cluster, found)
    assert worse(summary, explain(cluster, plan_targets(cluster, stock))) == {}


@pytest.mark.parametrize("block", [100_000, 200])
@pytest.mark.parametrize(
    "strategy", [Strategy.REBALANCE, Strategy.STOCK, Strategy.PREFERRED_LEADERS]
)
def test_a_plan_leads_to_its_targets_and_its_inverse_back(strategy: Strategy, block: int) -> None:
    cluster = level_cluster(600, 9, 3, skew=True)
    options = PlanOptions(strategy=strategy)
    rows = plan_targets(cluster, options, partitions_per_block=block)
    plan = list(changes(cluster, Target(replicas=rows), rows_at_once=7))
    there = applied(cluster, plan).replicas
    assert there.tolist() == rows.tolist()
    moved = ClusterColumns(
        brokers=cluster.brokers,
        topics=cluster.topics,
        topic_starts=cluster.topic_starts,
        replicas=there,
    )
    inverse = [replace(one, origins=one.targets, targets=one.origins) for one in plan]
    assert applied(moved, inverse).replicas.tolist() == cluster.replicas.tolist()
