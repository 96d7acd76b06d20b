"""The faults of a storm: drawn by a seed, put on and taken off again."""

import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

PAUSE_MAX_S = 14.0
"""Longer than the sessions of brokers (6 s) and controllers (4 s) with ZooKeeper."""
CUT_MAX_S = 20.0
DOWN_MAX_S = 6.0
REST_MAX_S = 8.0
SECOND_FAULT_SHARE = 0.25
"""How often a second fault is put on while the first one is."""


class FaultKind(StrEnum):
    """What is done to a process."""

    KILL = "kill"
    PAUSE = "pause"
    CUT = "cut"
    """One other process hears nothing from it."""
    MUTE = "mute"
    """Nobody hears anything from it; it hears everybody."""
    DEAFEN = "deafen"
    """It hears nothing from anybody; everybody hears it."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault, for a time."""

    kind: FaultKind
    target: str
    peer: str | None = None
    """Who does not hear the target, for a cut."""
    hold_s: float
    rest_s: float
    """How long nothing more is done after it."""

    def __str__(self) -> str:
        peer = "" if self.peer is None else f" -> {self.peer}"
        return f"{self.kind} {self.target}{peer} for {self.hold_s:.1f} s"


class Victims(Protocol):
    """The cluster that faults act on."""

    def start(self, name: str) -> None:
        """Start a process."""

    def kill(self, name: str) -> None:
        """SIGKILL a process."""

    def signal(self, name: str, number: signal.Signals) -> None:
        """Signal a process."""

    def cut(self, sender: str, receiver: str) -> None:
        """Let nothing from one reach the other."""

    def mend(self, sender: str, receiver: str) -> None:
        """Undo a cut."""


_HOLD_S = {
    FaultKind.KILL: (0.0, DOWN_MAX_S),
    FaultKind.PAUSE: (1.0, PAUSE_MAX_S),
    FaultKind.CUT: (3.0, CUT_MAX_S),
    FaultKind.MUTE: (3.0, CUT_MAX_S),
    FaultKind.DEAFEN: (3.0, CUT_MAX_S),
}


def draw(chance: random.Random, children: Sequence[str], clients: str) -> Iterator[Fault]:
    """Yield faults for ever: the same for the same seed and the same processes."""
    while True:
        kind = chance.choice(list(FaultKind))
        target = chance.choice(children)
        others = [name for name in (*children, clients) if name != target]
        yield Fault(
            kind=kind,
            target=target,
            peer=chance.choice(others) if kind is FaultKind.CUT else None,
            hold_s=chance.uniform(*_HOLD_S[kind]),
            rest_s=chance.uniform(1.0, REST_MAX_S),
        )


def rounds(chance: random.Random, children: Sequence[str], clients: str) -> Iterator[list[Fault]]:
    """Yield what is put on together: one fault, or two of different processes."""
    faults = draw(chance, children, clients)
    while True:
        together = [next(faults)]
        if chance.random() < SECOND_FAULT_SHARE:
            second = next(faults)
            if second.target != together[0].target:
                together.append(second)
        yield together


def links(fault: Fault, everybody: Sequence[str]) -> list[tuple[str, str]]:
    """Return the (sender, receiver) pairs between which nothing passes."""
    others = [name for name in everybody if name != fault.target]
    if fault.kind is FaultKind.CUT:
        assert fault.peer is not None
        return [(fault.target, fault.peer)]
    if fault.kind is FaultKind.MUTE:
        return [(fault.target, other) for other in others]
    if fault.kind is FaultKind.DEAFEN:
        return [(other, fault.target) for other in others]
    return []


def put_on(fault: Fault, victims: Victims, everybody: Sequence[str]) -> None:
    """Begin a fault."""
    if fault.kind is FaultKind.KILL:
        victims.kill(fault.target)
    elif fault.kind is FaultKind.PAUSE:
        victims.signal(fault.target, signal.SIGSTOP)
    for sender, receiver in links(fault, everybody):
        victims.cut(sender, receiver)


def take_off(fault: Fault, victims: Victims, everybody: Sequence[str]) -> None:
    """End a fault."""
    if fault.kind is FaultKind.KILL:
        victims.start(fault.target)
    elif fault.kind is FaultKind.PAUSE:
        victims.signal(fault.target, signal.SIGCONT)
    for sender, receiver in links(fault, everybody):
        victims.mend(sender, receiver)
