"""Each rule against hand-made logs that break it."""

import pytest

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.simulation.replication_rules import ReplicationRules, Stored
from tests.simulation.violations import InvariantViolation

T0 = TopicPartition("t", 0)
STATE = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2), controller_epoch=1)


def log(text: str, epoch: int = 5) -> list[Stored]:
    return [Stored(epoch, letter.encode()) for letter in text]


class Cluster:
    """Logs by broker."""

    def __init__(self) -> None:
        self.logs = {1: log("abcd"), 2: log("abcd"), 3: log("ab")}
        self.rules = ReplicationRules(lambda broker, _: self.logs[broker])

    def advance(self, high_watermark: int, leader: int = 1, epoch: int = 5) -> None:
        self.rules.advanced(leader, T0, epoch, high_watermark, STATE)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def rule_of(caught: pytest.ExceptionInfo[InvariantViolation]) -> str:
    return caught.value.rule


def test_what_the_isr_has_is_committed_and_may_be_acknowledged(cluster: Cluster) -> None:
    cluster.advance(3)
    cluster.rules.acknowledge(T0, 2, b"c")
    cluster.rules.sweep(T0, [1, 2], leader=1)

    assert cluster.rules.committed[T0] == log("abc")


def test_p1_an_acknowledgement_needs_a_committed_record(cluster: Cluster) -> None:
    cluster.advance(2)
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.acknowledge(T0, 2, b"c")
    assert rule_of(caught) == "P1"


def test_p1_an_acknowledged_record_is_still_there_in_the_end(cluster: Cluster) -> None:
    cluster.advance(3)
    cluster.rules.acknowledge(T0, 2, b"c")
    cluster.rules.committed[T0].pop()
    cluster.logs[1] = log("abX")
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.sweep(T0, [1], leader=1)
    assert rule_of(caught) == "P1"


def test_p2_who_joins_the_isr_has_everything(cluster: Cluster) -> None:
    cluster.advance(4)
    joined = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2, 3), controller_epoch=1)
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.state_changed(T0, joined)
    assert rule_of(caught) == "P2"


def test_p3_who_is_elected_has_everything(cluster: Cluster) -> None:
    cluster.advance(4)
    elected = LeaderAndIsr(leader=3, leader_epoch=6, isr=(3,), controller_epoch=1)
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.state_changed(T0, elected)
    assert rule_of(caught) == "P3"


def test_p4_no_leader_commits_another_record(cluster: Cluster) -> None:
    cluster.advance(4)
    cluster.logs[3] = log("abX", epoch=4)
    with pytest.raises(InvariantViolation) as caught:
        cluster.advance(3, leader=3, epoch=6)
    assert rule_of(caught) == "P4"


def test_p6_one_record_per_offset_and_epoch(cluster: Cluster) -> None:
    cluster.advance(2)
    cluster.logs[2] = log("abcX")
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.sweep(T0, [1, 2], leader=1)
    assert rule_of(caught) == "P6"


def test_p6_epochs_do_not_decrease(cluster: Cluster) -> None:
    cluster.logs[1] = log("a", 5) + log("b", 4)
    with pytest.raises(InvariantViolation) as caught:
        cluster.advance(2)
    assert rule_of(caught) == "P6"


def test_p13_no_record_is_stored_twice(cluster: Cluster) -> None:
    cluster.logs = {1: log("aba"), 2: log("aba")}
    cluster.advance(3)
    with pytest.raises(InvariantViolation) as caught:
        cluster.rules.sweep(T0, [1, 2], leader=1)
    assert rule_of(caught) == "P13"


def test_p7_the_high_watermark_waits_for_the_isr(cluster: Cluster) -> None:
    cluster.logs[2] = log("abc")
    cluster.advance(3)
    with pytest.raises(InvariantViolation) as caught:
        cluster.advance(4)
    assert rule_of(caught) == "P7"
