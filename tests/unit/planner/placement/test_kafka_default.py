from typing import Any

import pytest

from ballast.planner.arrays import Shorts
from ballast.planner.errors import Infeasible
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.placement.kafka_default import kafka_default_targets
from ballast.planner.problem.cluster_view import ClusterView
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import against_the_rules, ids, made


def stock(cluster: ClusterColumns, **more: Any) -> Shorts:
    options = PlanOptions(strategy=Strategy.STOCK, **more)
    return kafka_default_targets(ClusterView(cluster, options))


def test_as_kafka_deals() -> None:
    """The table in Kafka's own comment: five brokers, start and shift 0."""
    cluster = made(dict.fromkeys(range(5)), {"t": [[0, 1, 2]] * 10})
    assert ids(cluster, stock(cluster, start_index=0)) == [
        *((0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1)),
        *((0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2)),
    ]


def test_racks_take_turns() -> None:
    racks: dict[int, str | None] = {broker: f"r{broker % 3}" for broker in range(6)}
    cluster = made(racks, {"t": [[0, 3, 1]] * 12})
    assert against_the_rules(cluster, stock(cluster)) == 0


def test_only_named_brokers_and_topics() -> None:
    cluster = made(dict.fromkeys(range(4)), {"s": [[3]], "t": [[3], [3]]})
    found = stock(cluster, broker_ids=(0, 1), exclude=("s",))
    assert ids(cluster, found)[0] == (3,)
    assert {row[0] for row in ids(cluster, found)[1:]} == {0, 1}


def test_every_topic_begins_elsewhere_by_the_seed() -> None:
    cluster = made(dict.fromkeys(range(9)), {f"t{n}": [[0]] for n in range(40)})
    first = [tuple(row) for row in stock(cluster).tolist()]
    assert len(set(first)) > 4
    assert [tuple(row) for row in stock(cluster).tolist()] == first
    assert [tuple(row) for row in stock(cluster, seed=1).tolist()] != first


def test_the_replication_factor_is_that_of_the_first_partition() -> None:
    cluster = made(dict.fromkeys(range(4)), {"t": [[3, 1], [2], [1, 2, 3]]})
    assert [len(row) for row in ids(cluster, stock(cluster))] == [2, 2, 2]


def test_too_few_brokers() -> None:
    cluster = made(dict.fromkeys(range(4)), {"t": [[0, 1, 2]] * 2})
    with pytest.raises(Infeasible, match="t-0: has 3 replicas, and only 2 brokers may be used"):
        stock(cluster, broker_ids=(0, 1))
