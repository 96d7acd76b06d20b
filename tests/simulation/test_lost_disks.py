"""Disks that are replaced: what counts as a broker's log, and what is put back."""

import random

import pytest

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.fakes.disk import FakeDisk
from tests.simulation.lost_disks import LostDisks
from tests.simulation.violations import InvariantViolation

T0 = TopicPartition("t", 0)
SEGMENT = "00000000000000000000.log"


def state(*isr: int) -> LeaderAndIsr:
    return LeaderAndIsr(leader=-1, leader_epoch=1, isr=isr, controller_epoch=1)


class Cluster:
    """Two brokers with a replica each."""

    def __init__(self) -> None:
        self.disks = {broker: FakeDisk(random.Random(broker)) for broker in (1, 2)}
        self.states = {T0: state(1, 2)}
        self.deleted: set[TopicPartition] = set()
        self.lost = LostDisks(self.disks, self.states, self.deleted.__contains__)
        for disk in self.disks.values():
            disk.make_directory("/disk")
            disk.make_directory("/disk/t-0")
            disk.write_whole(f"/disk/t-0/{SEGMENT}", b"abc")
            disk.set_modified_ms(f"/disk/t-0/{SEGMENT}", 7)

    def replace(self, broker: int) -> None:
        self.lost.replace(broker, self._directory_of)

    def _directory_of(self, broker: int, _: TopicPartition) -> str | None:
        return "/disk" if self.disks[broker].holds("/disk/t-0") else None


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def test_what_was_there_is_known_and_put_back(cluster: Cluster) -> None:
    cluster.replace(1)
    cluster.replace(1)
    assert not cluster.disks[1].holds("/disk")
    assert cluster.lost.content(1, T0, (".log",)) == b"abc"
    assert cluster.lost.content(2, T0, (".log",)) == b""
    cluster.lost.give_back(1, "/disk")
    assert cluster.disks[1].content(f"/disk/t-0/{SEGMENT}") == b"abc"
    assert cluster.disks[1].modified_ms(f"/disk/t-0/{SEGMENT}") == 7
    assert cluster.lost.content(1, T0, (".log",)) == b""


def test_what_is_being_deleted_is_not_put_back(cluster: Cluster) -> None:
    cluster.replace(1)
    cluster.states[T0] = state(1)
    cluster.deleted.add(T0)
    assert cluster.lost.stuck() == []
    cluster.lost.give_back(1, "/disk")
    assert not cluster.disks[1].holds("/disk/t-0")
    cluster.deleted.clear()
    assert cluster.lost.stuck() == [1]


def test_who_waits_for_a_disk(cluster: Cluster) -> None:
    cluster.replace(1)
    assert cluster.lost.stuck() == []
    cluster.states[T0] = state(1)
    assert cluster.lost.stuck() == [1]
    cluster.states[T0] = state(1, 2)
    cluster.replace(2)
    assert cluster.lost.stuck() == [1, 2]
    cluster.lost.deleted(T0)
    assert cluster.lost.stuck() == []


def test_an_emptied_replica_in_the_isr_takes_no_role(cluster: Cluster) -> None:
    cluster.lost.hosted(1, T0)
    cluster.replace(1)
    with pytest.raises(InvariantViolation, match="P18"):
        cluster.lost.hosted(1, T0)
    cluster.states[T0] = state(2)
    cluster.lost.hosted(1, T0)
    assert cluster.lost.content(1, T0, (".log",)) == b""
