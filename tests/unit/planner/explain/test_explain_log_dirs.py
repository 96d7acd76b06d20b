import numpy as np
import pytest

from ballast.planner.explain.explain import explain
from ballast.planner.explain.explain_blocks import merge_explanations
from ballast.planner.explain.explain_log_dirs import whole_log_dir_moves
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from tests.unit.planner.log_dir_builders import one_broker, skewed


def test_what_is_copied_inside_of_brokers() -> None:
    cluster = one_broker([10, 20], [30], capacities=[100, 300])
    found = explain(cluster, cluster.replicas, log_dirs=np.array([[1], [0], [1]], np.int32))
    assert found.partitions == 1
    within = found.log_dirs
    assert within is not None
    assert (within.replicas, within.bytes_within.tolist(), within.bytes_least) == (1, [10], 10)
    assert (within.before.tolist(), within.after.tolist()) == ([30, 30], [20, 40])
    assert within.fullest(within.before) == 2.0
    assert within.fullest(within.after) == pytest.approx(4 / 3)
    assert within.fullest(np.zeros(2, np.int64)) == 1.0


def test_explanations_of_blocks_add_up() -> None:
    cluster = skewed(300, 4, 3)
    table = plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE_LOG_DIRS))
    once = explain(cluster, cluster.replicas, log_dirs=table)
    twice = merge_explanations([once, once]).log_dirs
    assert once.log_dirs is not None
    assert twice is not None
    assert twice.replicas == 2 * once.log_dirs.replicas
    assert twice.fullest(twice.after) == pytest.approx(once.log_dirs.fullest(once.log_dirs.after))
    busiest = int(once.log_dirs.bytes_within.max())
    assert once.seconds_at_least(1000) == busiest / 1000


def test_where_no_directory_is_named_nothing_is_told() -> None:
    cluster = one_broker([10, 20], [30])
    assert explain(cluster, cluster.replicas).log_dirs is None
    assert whole_log_dir_moves([None, None]) is None
