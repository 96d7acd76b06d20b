import random

import numpy as np
import pytest

from ballast.planner.explain.explain import explain
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.plan import plan_targets
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import Rows, ids, level_cluster, made


def sized(brokers: int, *, new: int = 0, skew: bool = False) -> ClusterColumns:
    """Return 4000 partitions of log-normal sizes, none above a tenth of a broker."""
    chance = random.Random(5)
    plain = level_cluster(4000, brokers, 4, new=new, skew=skew)
    rows = ids(plain, plain.replicas)
    sizes = [min(3e7, 1e5 * chance.lognormvariate(0, 1.5)) for _ in rows]
    topics: dict[str, Rows] = {"t": rows}
    racks: dict[int, str | None] = {broker: f"r{broker % 4}" for broker in range(brokers + new)}
    return made(racks, topics, sizes={"t": list(map(round, sizes))})


def share(cluster: ClusterColumns, brokers: int) -> float:
    assert cluster.sizes is not None
    return float((cluster.sizes * cluster.replication_factors).sum()) / brokers


def test_a_skewed_cluster_ends_level_in_bytes_too() -> None:
    cluster = sized(20, skew=True)
    found = explain(cluster, plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    fair = share(cluster, 20)
    surplus = np.maximum(found.before.size_bytes - fair, 0).sum()
    assert found.bytes_to_move <= 1.05 * surplus
    assert found.spread(found.after.replicas).most - found.spread(found.after.replicas).least <= 1
    assert found.before.size_bytes.max() > 1.5 * fair
    assert found.after.size_bytes.max() < 1.05 * fair
    assert found.after.size_bytes.min() > 0.95 * fair
    assert found.rack_violations[1] == 0


def test_new_brokers_get_their_share_of_bytes_and_of_replicas() -> None:
    before = sized(20, new=4)
    old = tuple(range(20))
    level = plan_targets(before, PlanOptions(strategy=Strategy.REBALANCE, broker_ids=old))
    cluster = ClusterColumns(
        brokers=before.brokers,
        topics=before.topics,
        topic_starts=before.topic_starts,
        replicas=level,
        sizes=before.sizes,
    )
    options = PlanOptions(strategy=Strategy.ADD_BROKERS, broker_ids=(20, 21, 22, 23))
    found = explain(cluster, plan_targets(cluster, options))
    fair = share(cluster, 24)
    assert found.bytes_to_move <= 1.05 * 4 * fair
    assert found.after.size_bytes[20:].min() > 0.93 * fair
    assert found.after.replicas[20:].tolist() == [500] * 4
    assert found.replica_moves == 2000
    assert found.rack_violations == (0, 0)


def test_what_leaves_goes_to_who_lacks_bytes() -> None:
    cluster = sized(20)
    options = PlanOptions(strategy=Strategy.REMOVE_BROKERS, broker_ids=(3, 7))
    found = explain(cluster, plan_targets(cluster, options))
    leaving = np.isin(cluster.brokers.ids, [3, 7])
    assert found.bytes_to_move == found.before.size_bytes[leaving].sum()
    spread = found.after.size_bytes[~leaving].std() / found.after.size_bytes[~leaving].mean()
    assert spread < found.before.size_bytes[~leaving].std() / found.before.size_bytes.mean()


@pytest.mark.parametrize("large", [50, 100])
def test_large_ones_change_places_with_small_ones(large: int) -> None:
    """All have as many replicas, two brokers all the bytes: counts stay, bytes are levelled."""
    rows = [[broker] for broker in range(4) for _ in range(20)]
    sizes = [large if broker < 2 else 1 for broker in range(4) for _ in range(20)]
    cluster = made(dict.fromkeys(range(4)), {"t": rows}, sizes={"t": sizes})
    found = explain(cluster, plan_targets(cluster, PlanOptions(strategy=Strategy.REBALANCE)))
    assert found.after.replicas.tolist() == [20] * 4
    assert found.after.size_bytes.max() <= 1.25 * found.after.size_bytes.mean()
    assert found.replica_moves <= 44
