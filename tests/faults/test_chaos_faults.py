import random
import signal
from collections import Counter
from itertools import islice

import pytest

from tests.faults.chaos_faults import (
    CUT_MAX_S,
    Fault,
    FaultKind,
    draw,
    links,
    put_on,
    rounds,
    take_off,
)

CHILDREN = ["zookeeper", "broker-1", "broker-2", "controller-1"]
EVERYBODY = [*CHILDREN, "clients"]


class Network:
    """Records what faults leave behind."""

    def __init__(self) -> None:
        self.down: set[str] = set()
        self.stopped: set[str] = set()
        self.links: Counter[tuple[str, str]] = Counter()

    def start(self, name: str) -> None:
        self.down.remove(name)

    def kill(self, name: str) -> None:
        self.down.add(name)

    def signal(self, name: str, number: signal.Signals) -> None:
        if number is signal.SIGSTOP:
            self.stopped.add(name)
        else:
            assert number is signal.SIGCONT
            self.stopped.remove(name)

    def cut(self, sender: str, receiver: str) -> None:
        self.links[sender, receiver] += 1

    def mend(self, sender: str, receiver: str) -> None:
        self.links[sender, receiver] -= 1

    @property
    def is_whole(self) -> bool:
        return not self.down and not self.stopped and not any(self.links.values())


def test_a_seed_says_what_happens() -> None:
    first, again, other = (
        list(islice(rounds(random.Random(seed), CHILDREN, "clients"), 50)) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other
    assert {len(together) for together in first} == {1, 2}
    assert all(len({fault.target for fault in together}) == len(together) for together in first)


def test_every_kind_strikes_every_process() -> None:
    faults = list(islice(draw(random.Random(1), CHILDREN, "clients"), 500))
    assert {(f.kind, f.target) for f in faults} == {(k, c) for k in FaultKind for c in CHILDREN}
    assert {f.peer for f in faults if f.kind is FaultKind.CUT} == set(EVERYBODY)
    assert all(f.peer != f.target and 0 <= f.hold_s <= CUT_MAX_S for f in faults)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (FaultKind.CUT, {("broker-1", "broker-2")}),
        (FaultKind.MUTE, {("broker-1", name) for name in EVERYBODY if name != "broker-1"}),
        (FaultKind.DEAFEN, {(name, "broker-1") for name in EVERYBODY if name != "broker-1"}),
        (FaultKind.PAUSE, set()),
    ],
)
def test_partitions_are_one_way(kind: FaultKind, expected: set[tuple[str, str]]) -> None:
    fault = Fault(kind=kind, target="broker-1", peer="broker-2", hold_s=1, rest_s=1)
    assert set(links(fault, EVERYBODY)) == expected


def test_what_is_put_on_is_taken_off() -> None:
    network = Network()
    for together in islice(rounds(random.Random(2), CHILDREN, "clients"), 100):
        for fault in together:
            put_on(fault, network, EVERYBODY)
        assert not network.is_whole
        for fault in together:
            take_off(fault, network, EVERYBODY)
        assert network.is_whole
