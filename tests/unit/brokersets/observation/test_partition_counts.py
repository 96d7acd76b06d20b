from ballast.brokersets.observation.observed import Pending
from ballast.brokersets.observation.partition_counts import BrokerCount, take_census
from tests.unit.brokersets.worlds import FULL, cluster


def test_partitions_by_what_ails_them() -> None:
    census = take_census(
        cluster(
            FULL,
            ((0, 1, 2), (0, 1)),  # at its minimum
            ((0, 1, 2), (1,)),  # under it
            ((3,), (3,)),  # led by nobody: broker 3 is down
            ((0, 1), (0, 1)),  # can spare none at the best
            pending={0: Pending(), 1: Pending()},
        )
    )
    assert (census.total, census.leaderless, census.reassigning) == (5, 1, 2)
    assert (census.under_replicated, census.under_min_isr, census.at_min_isr) == (2, 1, 1)


def test_replicas_by_broker() -> None:
    census = take_census(cluster(FULL, ((0, 1, 2), (1,)), ((3, 2), (3,))))
    assert census.of(0) == BrokerCount(leaders=1, replicas=2, behind=1, under_replicated=1)
    assert census.of(1) == BrokerCount(leaders=1, replicas=2)
    # Nobody leads the last partition, so there is nobody to catch up with.
    assert census.of(2) == BrokerCount(replicas=3, behind=1, under_replicated=2)
    assert census.of(99) == BrokerCount()
    assert census.holders == {0, 1, 2, 3}


def test_replicas_on_their_way_are_not_missing() -> None:
    census = take_census(
        cluster(((0, 1, 2, 3), (0, 1, 2)), pending={0: Pending(adding=(3,), removing=(0,))})
    )
    assert (census.under_replicated, census.at_min_isr) == (0, 0)
    assert census.of(3) == BrokerCount(replicas=1)
    assert 3 in census.holders


def test_an_empty_broker_that_is_to_get_replicas_is_not_free() -> None:
    census = take_census(cluster(FULL, pending={0: Pending(adding=(7,))}))
    assert 7 in census.holders
