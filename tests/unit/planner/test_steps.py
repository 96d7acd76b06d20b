from ballast.planner.leading import share_out_leaders
from ballast.planner.options import PlanOptions, Strategy
from ballast.planner.quotas import share_out_work
from ballast.planner.steps import lead, place
from ballast.planner.survey import situation_of, survey
from tests.unit.planner.made import counts, leader_counts, made

CLUSTER = made(dict.fromkeys(range(3)), {"t": [[0, 1]] * 6})


def test_a_block_goes_through_all_steps() -> None:
    options = PlanOptions(strategy=Strategy.REBALANCE)
    (quota,) = share_out_work(CLUSTER.brokers, options, [survey(CLUSTER, options)])
    rows, led = place(CLUSTER, options, quota)
    assert counts(CLUSTER, rows) == {0: 4, 1: 4, 2: 4}
    assert led is not None
    (band,) = share_out_leaders(situation_of(CLUSTER, options), [led])
    lead(CLUSTER, options, rows, band)
    assert leader_counts(CLUSTER, rows) == {0: 2, 1: 2, 2: 2}


def test_where_only_leaders_change_nothing_is_placed() -> None:
    options = PlanOptions(strategy=Strategy.PREFERRED_LEADERS)
    (quota,) = share_out_work(CLUSTER.brokers, options, [survey(CLUSTER, options)])
    rows, led = place(CLUSTER, options, quota)
    assert rows.tolist() == CLUSTER.replicas.tolist()
    assert led is not None


def test_what_kafka_would_propose_leads_as_it_is() -> None:
    options = PlanOptions(strategy=Strategy.STOCK, start_index=0, max_replica_moves=2)
    (quota,) = share_out_work(CLUSTER.brokers, options, [survey(CLUSTER, options)])
    rows, led = place(CLUSTER, options, quota)
    assert led is None
    assert counts(CLUSTER, rows)[2] == 2
