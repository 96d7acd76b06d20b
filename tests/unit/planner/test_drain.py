import itertools
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.planner.drain import drain_targets
from ballast.planner.errors import Infeasible
from ballast.planner.snapshot.columns import ClusterColumns
from tests.unit.planner.builders import clusters, ids, level_cluster, made

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
FOUR = dict.fromkeys((1, 2, 3, 4))


def test_only_what_is_on_leaving_brokers_moves() -> None:
    cluster = made(FOUR, {"t": [[4, 1], [1, 2]]})
    assert drain_targets(cluster, [4]) == {T0: (3, 1)}
    assert drain_targets(cluster, []) == {}


def test_cordoned_brokers_get_nothing_and_keep_what_they_have() -> None:
    cluster = made(FOUR, {"t": [[4, 1], [2, 4]]}, cordoned=[2])
    found = drain_targets(cluster, [4])
    assert {tp: set(row) for tp, row in found.items()} == {T0: {3, 1}, T1: {2, 1}}
    assert found[T1][0] == 2


def test_a_broker_that_is_gone_already_is_drained() -> None:
    assert drain_targets(made({1: None}, {"t": [[7]]}), [7]) == {T0: (1,)}
    assert drain_targets(made({1: None}, {"t": [[1]]}), [7]) == {}


def test_too_few_brokers_stay() -> None:
    cluster = made(
        dict.fromkeys((1, 2, 3)), {"s": [[1, 2]], "t": [[1, 2, 3], [3, 2, 1]], "u": [[3]]}
    )
    with pytest.raises(Infeasible) as caught:
        drain_targets(cluster, [3])
    assert (caught.value.topic_partition, caught.value.total) == (T0, 2)


def racks_of(cluster: ClusterColumns) -> dict[int, int]:
    if not cluster.brokers.has_racks:
        return {}
    return dict(zip(cluster.brokers.ids.tolist(), cluster.brokers.racks.tolist(), strict=True))


def stacked(racks: dict[int, int], replicas: tuple[int, ...]) -> int:
    """Return how unevenly replicas are spread over racks."""
    used = Counter(racks.get(broker, 0) for broker in replicas)
    return sum(count**2 for count in used.values())


@given(clusters(), st.data())
def test_as_level_as_any_choice_makes_it(cluster: ClusterColumns, data: st.DataObject) -> None:
    """One broker leaves: nothing else moves, racks are kept, and no choice is more level.

    A cordoned broker's rack could be too small for the rule: such clusters are passed over.
    """
    assume(not cluster.brokers.cordoned.any())
    brokers = cluster.brokers.ids.tolist()
    leaving = data.draw(st.sampled_from(brokers))
    rows = dict(
        zip(
            map(cluster.partition, range(cluster.partitions)),
            ids(cluster, cluster.replicas),
            strict=True,
        )
    )
    staying = [broker for broker in brokers if broker != leaving]
    crowded = [tp for tp, row in rows.items() if leaving in row and len(row) == len(brokers)]
    if crowded:
        with pytest.raises(Infeasible):
            drain_targets(cluster, [leaving])
        return
    targets = drain_targets(cluster, [leaving])
    assert targets.keys() == {tp for tp, row in rows.items() if leaving in row}
    assume(len(targets) <= 5)
    racks = racks_of(cluster)
    stay: Counter[int] = Counter()
    choices = []
    for tp, row in rows.items():
        left = tuple(broker for broker in row if broker != leaving)
        stay.update(left)
        if tp not in targets:
            continue
        assert set(left) < set(targets[tp])
        if row[0] != leaving:
            assert targets[tp][0] == row[0]
        free = [broker for broker in staying if broker not in left]
        least = min(stacked(racks, (*left, broker)) for broker in free)
        assert stacked(racks, targets[tp]) == least
        choices.append([b for b in free if stacked(racks, (*left, b)) == least])

    def squares(chosen: Counter[int]) -> int:
        return sum(count**2 for count in chosen.values())

    ended = Counter(broker for tp, row in rows.items() for broker in targets.get(tp, row))
    assert squares(ended) == min(
        squares(stay + Counter(choice)) for choice in itertools.product(*choices)
    )


def test_who_takes_is_level_and_leaders_go_round() -> None:
    cluster = level_cluster(3000, 12, 6)
    targets = drain_targets(cluster, {0, 7})
    rows = ids(cluster, cluster.replicas)
    ended = [targets.get(cluster.partition(at), row) for at, row in enumerate(rows)]
    held = Counter(broker for row in ended for broker in row)
    assert held.keys() == set(range(12)) - {0, 7}
    assert max(held.values()) - min(held.values()) <= 60
    led = Counter(row[0] for row in ended)
    before = Counter(row[0] for row in rows)
    stayed = [before[broker] for broker in held]
    assert max(led.values()) - min(led.values()) <= max(stayed) - min(stayed) + 3
