"""Plans by load: a topic that is written to much more than the others."""

import pytest

from ballast.planner.explain.explain import Explanation, explain
from ballast.planner.options import Objective, PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry

BROKERS = 6


def hot_on_two() -> ClusterColumns:
    """Return a cluster level by count, with the ten-fold load of one topic on two brokers."""
    collector = SnapshotCollector([BrokerEntry(id=n) for n in range(BROKERS)])
    hot = TopicEntry(topic="hot", replicas=[[n % 2, 1 - n % 2] for n in range(12)], bytes=[5] * 12)
    hot.bytes_in_per_second = [1000.0] * 12
    collector.add(hot, "line 2")
    for number in range(3):
        rows = [[2 + n % 4, 2 + (n + 1) % 4] for n in range(16)]
        if number == 0:
            rows[::2] = [[n % 2, 1 - n % 2] for n in range(8)]
        cold = TopicEntry(topic=f"cold{number}", replicas=rows, bytes=[5] * 16)
        cold.bytes_in_per_second = [100.0] * 16
        collector.add(cold, f"line {number + 3}")
    return collector.columns()


def rebalanced(objective: Objective, block: int) -> Explanation:
    cluster = hot_on_two()
    options = PlanOptions(strategy=Strategy.REBALANCE, objective=objective)
    return explain(cluster, plan_targets(cluster, options, partitions_per_block=block))


@pytest.mark.parametrize("block", [100_000, 30])
def test_with_load_the_hot_topic_is_spread(block: int) -> None:
    """As far as it goes with one move of each partition."""
    summary = rebalanced(Objective.BYTES_IN_PER_SECOND, block)
    before = summary.spread(summary.before.bytes_in_per_second)
    after = summary.spread(summary.after.bytes_in_per_second)
    assert before.most > 2 * before.mean
    assert after.most <= 0.8 * before.most
    assert after.least > before.least
    replicas = summary.spread(summary.after.replicas)
    assert replicas.most - replicas.least <= 1


def test_without_load_it_stays() -> None:
    summary = rebalanced(Objective.BYTES, 100_000)
    assert summary.replica_moves == 0


def test_brokers_that_share_what_they_give_all_get_some_of_the_load() -> None:
    """Two brokers hold the same small replicas: neither may be the only one that makes room."""
    collector = SnapshotCollector([BrokerEntry(id=n) for n in range(4)])
    hot = TopicEntry(topic="hot", replicas=[[0, 1]] * 8, bytes=[5] * 8)
    hot.bytes_in_per_second = [1000.0] * 8
    cold = TopicEntry(topic="cold", replicas=[[2, 3]] * 8, bytes=[5] * 8)
    cold.bytes_in_per_second = [100.0] * 8
    collector.add(hot, "line 2")
    collector.add(cold, "line 3")
    cluster = collector.columns()
    options = PlanOptions(strategy=Strategy.REBALANCE, objective=Objective.BYTES_IN_PER_SECOND)
    summary = explain(cluster, plan_targets(cluster, options))
    assert summary.before.bytes_in_per_second.tolist() == [8000, 8000, 800, 800]
    assert summary.after.bytes_in_per_second.min() > 800
