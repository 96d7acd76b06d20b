"""Each rule against hand-made logs that break it."""

import pytest

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.simulation.compaction_rules import CompactionRules, Kept, SparseLog
from tests.simulation.violations import InvariantViolation

T0 = TopicPartition("compacted", 0)
STATE = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2), controller_epoch=1)


def log(**records: str) -> SparseLog:
    """Return a log of four offsets; ``a1="x"`` is key ``a`` with value ``x`` at offset 1."""
    kept = {
        int(name[1]): Kept(5, name[0].encode(), value.encode()) for name, value in records.items()
    }
    return SparseLog(4, kept)


class Cluster:
    """Logs by broker, of which the first has a record that another supersedes."""

    def __init__(self) -> None:
        self.logs = {
            1: log(a0="x", b1="y", a2="z", c3="w"),
            2: log(a0="x", b1="y", a2="z", c3="w"),
        }
        self.rules = CompactionRules(lambda broker, _: self.logs[broker])

    def advance(self, high_watermark: int) -> None:
        self.rules.advanced(1, T0, 5, high_watermark, STATE)

    def broken_rule(self) -> str:
        with pytest.raises(InvariantViolation) as caught:
            self.rules.sweep(T0, [1, 2], leader=1)
        return caught.value.rule


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_what_is_superseded_may_go_from_any_log(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.rules.acknowledge(T0, 2, b"a", b"z")
    cluster.logs[2] = log(b1="y", a2="z", c3="w")
    cluster.rules.sweep(T0, [1, 2], leader=1)

    assert cluster.rules.newest[T0] == {b"a": 2, b"b": 1, b"c": 3}


def test_p17_the_newest_record_of_a_key_may_not_go(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.logs[2] = log(a0="x", a2="z", c3="w")
    assert cluster.broken_rule() == "P17"


def test_p17_an_older_value_does_not_stand_in_for_a_newer_one(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.logs[1] = log(a0="x", b1="y", c3="w")
    assert cluster.broken_rule() == "P17"


def test_p4_an_offset_never_holds_another_record(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.logs[2] = log(b0="x", b1="y", a2="z", c3="w")
    assert cluster.broken_rule() == "P4"


def test_p7_a_log_ends_no_earlier_than_what_is_committed(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.logs[2] = SparseLog(3, cluster.logs[2].records)
    assert cluster.broken_rule() == "P7"


def test_p7_what_is_not_committed_is_not_compacted(cluster: Cluster) -> None:
    cluster.logs[1] = log(b1="y", a2="z", c3="w")
    with pytest.raises(InvariantViolation, match=r"P7.* 0 was compacted uncommitted"):
        cluster.advance(4)


def test_p1_an_acknowledgement_needs_a_committed_record(cluster: Cluster) -> None:
    cluster.advance(2)
    with pytest.raises(InvariantViolation, match=r"P1.* too early"):
        cluster.rules.acknowledge(T0, 2, b"a", b"z")
    with pytest.raises(InvariantViolation, match=r"P1.* another record"):
        cluster.rules.acknowledge(T0, 1, b"b", b"other")


def test_a_copy_in_another_directory_has_what_is_committed(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.rules.copied(2, T0, STATE)
    cluster.logs[2] = log(a0="x")
    with pytest.raises(InvariantViolation, match="P17"):
        cluster.rules.copied(2, T0, STATE)
    cluster.rules.copied(2, T0, None)
