from ballast.brokersets.observation.observation import PendingChange
from ballast.brokersets.observation.partition_counts import BrokerCount, count_partitions
from tests.unit.brokersets.builders import FULL, cluster


def test_partitions_by_what_ails_them() -> None:
    counts = count_partitions(
        cluster(
            FULL,
            ((0, 1, 2), (0, 1)),  # at its minimum
            ((0, 1, 2), (1,)),  # under it
            ((3,), (3,)),  # no leader: broker 3 is down
            ((0, 1), (0, 1)),  # can spare none at the best
            pending={0: PendingChange(), 1: PendingChange()},
        )
    )
    assert (counts.total, counts.leaderless, counts.reassigning) == (5, 1, 2)
    assert (counts.under_replicated, counts.under_min_isr, counts.at_min_isr) == (2, 1, 1)


def test_replicas_by_broker() -> None:
    counts = count_partitions(cluster(FULL, ((0, 1, 2), (1,)), ((3, 2), (3,))))
    assert counts.of(0) == BrokerCount(leaders=1, replicas=2, behind=1, under_replicated=1)
    assert counts.of(1) == BrokerCount(leaders=1, replicas=2)
    # The last partition has no leader, so its replicas cannot catch up.
    assert counts.of(2) == BrokerCount(replicas=3, behind=1, under_replicated=2)
    assert counts.of(99) == BrokerCount()
    assert counts.holders == {0, 1, 2, 3}


def test_replicas_on_their_way_are_not_missing() -> None:
    counts = count_partitions(
        cluster(((0, 1, 2, 3), (0, 1, 2)), pending={0: PendingChange(adding=(3,), removing=(0,))})
    )
    assert (counts.under_replicated, counts.at_min_isr) == (0, 0)
    assert counts.of(3) == BrokerCount(replicas=1)
    assert 3 in counts.holders


def test_an_empty_broker_that_is_to_get_replicas_is_not_free() -> None:
    counts = count_partitions(cluster(FULL, pending={0: PendingChange(adding=(7,))}))
    assert 7 in counts.holders
