import numpy as np
import pytest

from ballast.planner.explain.explain import explain
from tests.unit.planner.builders import made

RACKS: dict[int, str | None] = {0: "a", 1: "a", 2: "b", 3: "b"}
CLUSTER = made(RACKS, {"t": [[0, 1], [0, 2], [1, 2]]}, sizes={"t": [10, 20, 30]})
AFTER = np.array([[0, 3, -1], [2, 0, -1], [1, 2, 3]], np.int32)


def test_what_is_copied() -> None:
    found = explain(CLUSTER, AFTER)
    assert (found.partitions, found.leader_changes, found.several_moves) == (3, 1, 0)
    assert (found.replica_moves, found.replica_moves_least) == (2, 2)
    assert (found.bytes_to_move, found.bytes_to_move_least) == (40, 40)
    assert found.flows.replicas_in.tolist() == [0, 0, 0, 2]
    assert found.flows.replicas_out.tolist() == [0, 1, 0, 0]
    assert found.flows.bytes_in.tolist() == [0, 0, 0, 40]
    assert found.flows.bytes_sent.tolist() == [10, 30, 0, 0]
    assert found.flows.matrix is not None
    assert found.flows.matrix[0, 3] == 10
    assert found.flows.matrix[1, 3] == 30
    assert found.flows.matrix.sum() == 40


def test_before_and_after() -> None:
    found = explain(CLUSTER, AFTER)
    assert found.before.replicas.tolist() == [2, 2, 2, 0]
    assert found.after.replicas.tolist() == [2, 1, 2, 2]
    assert found.before.leaders.tolist() == [2, 1, 0, 0]
    assert found.after.leaders.tolist() == [1, 1, 1, 0]
    assert found.after.size_bytes.tolist() == [30, 30, 50, 40]
    assert found.rack_violations == (1, 0)
    assert found.copysets == (3, 3)
    spread = found.spread(found.before.replicas)
    assert (spread.least, spread.most, spread.mean) == (0, 2, 1.5)
    assert spread.deviation == pytest.approx(0.57735, rel=1e-4)


def test_time_and_batches_are_those_of_the_busiest() -> None:
    found = explain(CLUSTER, AFTER)
    assert found.seconds_at_least(20) == 2.0
    assert found.batches_at_least(1) == 2
    assert found.batches_at_least(5) == 1
    nothing = explain(CLUSTER, CLUSTER.replicas)
    assert (nothing.seconds_at_least(1), nothing.batches_at_least(1)) == (0.0, 0)
    assert (nothing.partitions, nothing.replica_moves_least) == (0, 0)


def test_a_detour_is_seen() -> None:
    """Two brokers that swap what they have gain nothing: none of it had to be copied."""
    cluster = made(dict.fromkeys(range(2)), {"t": [[0], [1]]})
    found = explain(cluster, np.array([[1], [0]], np.int32))
    assert (found.replica_moves, found.replica_moves_least) == (2, 0)
    assert found.bytes_to_move == 0
    # Each move weighs on both brokers: on the one that copies and on the one that is copied from.
    assert found.batches_at_least(1) == 2
    assert found.rack_violations == (0, 0)
