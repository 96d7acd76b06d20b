import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.planner.drain import drain_targets
from ballast.planner.errors import Infeasible
from ballast.planner.snapshot import PlacedPartition, Snapshot
from tests.unit.planner.clusters import after, big_cluster, cluster, clusters, counts, leaders

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_only_what_is_on_leaving_brokers_moves() -> None:
    snapshot = cluster({1: None, 2: None, 3: None, 4: None}, {"t": [[4, 1], [1, 2]]})
    assert drain_targets(snapshot, [4]) == {T0: (3, 1)}
    assert drain_targets(snapshot, []) == {}


def test_cordoned_brokers_get_nothing_and_keep_what_they_have() -> None:
    snapshot = cluster({1: None, 2: None, 3: None, 4: None}, {"t": [[4, 1], [2, 4]]}, cordoned=[2])
    assert drain_targets(snapshot, [4]) == {T0: (3, 1), T1: (2, 1)}


def test_a_broker_that_is_gone_already_is_drained() -> None:
    assert drain_targets(cluster({1: None}, {"t": [[7]]}), [7]) == {T0: (1,)}


def test_too_few_brokers_stay() -> None:
    snapshot = cluster(
        {1: None, 2: None, 3: None}, {"s": [[1, 2]], "t": [[1, 2, 3], [3, 2, 1]], "u": [[3]]}
    )
    with pytest.raises(Infeasible) as caught:
        drain_targets(snapshot, [3])
    assert str(caught.value) == (
        "t-0: has 3 replicas, and only 2 brokers stay that may hold one: fewer brokers may go, "
        "or the replication factor must be lowered first (and 1 other partitions)"
    )
    assert (caught.value.topic_partition, caught.value.total) == (T0, 2)


def stacked(snapshot: Snapshot, replicas: tuple[int, ...]) -> int:
    """Return how many replicas are in a rack that another one is in already."""
    racks = Counter(snapshot.racks.get(broker, "") for broker in replicas)
    return sum(count - 1 for count in racks.values())


def fewest_stacked(snapshot: Snapshot, staying: tuple[int, ...], free: list[int], add: int) -> int:
    """Return the least that any choice of ``add`` more brokers comes to."""
    return min(stacked(snapshot, staying + more) for more in itertools.combinations(free, add))


@given(clusters(), st.data())
def test_drained(snapshot: Snapshot, data: st.DataObject) -> None:
    ids = [broker.broker_id for broker in snapshot.brokers]
    leaving = data.draw(st.sets(st.sampled_from(ids), max_size=len(ids) - 1))
    open_ids = [
        broker.broker_id
        for broker in snapshot.brokers
        if not broker.is_cordoned and broker.broker_id not in leaving
    ]
    try:
        targets = drain_targets(snapshot, leaving)
    except Infeasible as error:
        partition = next(
            p for p in snapshot.partitions() if p.topic_partition == error.topic_partition
        )
        staying = [broker for broker in partition.replicas if broker not in leaving]
        assert len({*staying, *open_ids}) < len(partition.replicas)
        return
    for partition in snapshot.partitions():
        target = targets.get(partition.topic_partition)
        assert (target is None) == leaving.isdisjoint(partition.replicas)
        if target is not None:
            _check_target(snapshot, partition, target, open_ids)


def _check_target(
    snapshot: Snapshot, partition: PlacedPartition, target: tuple[int, ...], open_ids: list[int]
) -> None:
    """Nothing else moved, nothing is doubled, and no choice would spread it over more racks."""
    pairs = list(zip(partition.replicas, target, strict=True))
    moved = [new for old, new in pairs if old != new]
    staying = tuple(old for old, new in pairs if old == new)
    assert set(moved) <= set(open_ids)
    assert len(set(target)) == len(target)
    free = [broker for broker in open_ids if broker not in staying]
    assert stacked(snapshot, target) == fewest_stacked(snapshot, staying, free, len(moved))


@given(clusters(), st.data())
def test_the_counts_are_as_level_as_any_choice_makes_them(
    snapshot: Snapshot, data: st.DataObject
) -> None:
    """One broker leaves; of all ways to place its replicas none has a smaller sum of squares."""
    leaving = data.draw(st.sampled_from([broker.broker_id for broker in snapshot.brokers]))
    try:
        targets = drain_targets(snapshot, [leaving])
    except Infeasible:
        return
    assume(len(targets) <= 5)
    open_ids = [
        b.broker_id for b in snapshot.brokers if not b.is_cordoned and b.broker_id != leaving
    ]
    stay: Counter[int] = Counter()
    choices = []
    for partition in snapshot.partitions():
        staying = tuple(broker for broker in partition.replicas if broker != leaving)
        stay.update(staying)
        if partition.topic_partition in targets:
            free = [broker for broker in open_ids if broker not in staying]
            best = fewest_stacked(snapshot, staying, free, 1)
            choices.append([b for b in free if stacked(snapshot, (*staying, b)) == best])

    def squares(chosen: Counter[int]) -> int:
        return sum(chosen[broker] ** 2 for broker in open_ids)

    found = squares(counts(after(snapshot, targets)))
    assert found == min(squares(stay + Counter(choice)) for choice in itertools.product(*choices))


@given(clusters(), st.data())
def test_the_order_of_the_values_means_nothing(snapshot: Snapshot, data: st.DataObject) -> None:
    leaving = data.draw(st.sampled_from([broker.broker_id for broker in snapshot.brokers]))
    shuffled = replace(
        snapshot,
        brokers=tuple(data.draw(st.permutations(snapshot.brokers))),
        topics=tuple(data.draw(st.permutations(snapshot.topics))),
    )
    try:
        expected = drain_targets(snapshot, [leaving])
    except Infeasible as error:
        with pytest.raises(Infeasible, match=error.topic_partition.topic):
            drain_targets(shuffled, [leaving])
    else:
        assert drain_targets(shuffled, [leaving]) == expected


@pytest.mark.parametrize(
    ("brokers", "racks", "leaving", "apart"),
    [
        pytest.param(12, 6, {0}, 60, id="one of many"),
        pytest.param(9, 3, {0, 4, 8}, 1, id="one of each of three racks"),
        pytest.param(8, 1, {3}, 1, id="no racks"),
        pytest.param(10, 5, {3, 8}, 1, id="a whole rack"),
    ],
)
def test_who_takes_is_level(brokers: int, racks: int, leaving: set[int], apart: int) -> None:
    """All end level where enough is given out; and the leaders go round."""
    snapshot = big_cluster(3000, brokers, racks)
    targets = drain_targets(snapshot, leaving)
    placed = after(snapshot, targets)
    found = counts(placed)
    assert leaving.isdisjoint(found)
    assert max(found.values()) - min(found.values()) <= apart
    before = leaders(after(snapshot, {}))
    stayed = [before[broker] for broker in found]
    led = leaders(placed)
    assert max(led.values()) - min(led.values()) <= max(stayed) - min(stayed) + 3
    assert all(stacked(snapshot, r) == (2 if racks == 1 else 0) for r in placed.values())


def test_many_partitions_take_little_time() -> None:
    """20,000 partitions; the limit is the test's own: a second of a slow machine."""
    snapshot = big_cluster(20_000, 100, 10)
    targets = drain_targets(snapshot, {5, 17})
    assert leaders(after(snapshot, targets)).keys().isdisjoint({5, 17})
    assert len(targets) == sum(not {5, 17}.isdisjoint(p.replicas) for p in snapshot.partitions())
