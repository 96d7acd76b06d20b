"""Moves that take long enough for something to happen meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.e2e.clients import Clients
from tests.e2e.cluster import Namespace, condition, eventually, state
from tests.e2e.installation import reassignment

PARTITIONS = 4
PARTITION_BYTES = 16 * 1024 * 1024
SLOW = "64Ki"
"""Bytes per second. A move lasts three minutes unless it is hurried: a fetch brings up to 1 MiB of
each partition, and is forgotten after the eleven seconds over which Kafka measures."""
FAST = "100Mi"
END_TIMEOUT_S = 180.0
FINAL = {"Completed", "Cancelled", "RolledBack", "Failed", "Invalid"}


@dataclass(frozen=True, slots=True)
class Move:
    """A reassignment of the topic of the same name: all partitions from brokers 1, 2 to 3, 2."""

    namespace: Namespace
    name: str

    def state(self) -> str:
        """Return its life in one word."""
        return state(self.namespace, self.name)

    def wait_for(self, *states: str, timeout_s: float = 60.0) -> str:
        """Return the state once it is one of these."""

        def look() -> str | None:
            found = self.state()
            return found if found in states else None

        return eventually(f"{self.name} {'/'.join(states)}", look, timeout_s=timeout_s)

    def change(self, **spec: Any) -> None:
        """Change fields of its spec."""
        self.namespace.patch("preassign", self.name, {"spec": spec})

    def hurry(self) -> None:
        """Raise the throttle, so that it ends soon."""
        self.change(execution={"throttle": {"rate": FAST}})

    def end(self, expected: str = "Completed") -> None:
        """Let it end, and see that it ended so, its throttle restored."""
        self.hurry()
        found = self.wait_for(*FINAL, timeout_s=END_TIMEOUT_S)
        document = self.namespace.get("preassign", self.name)
        assert found == expected, condition(document, "Succeeded")
        assert condition(document, "Throttled")["status"] == "False", document["status"]


@contextmanager
def slow_move(
    clients: Clients, name: str, *, source: str = "1:2", target: Sequence[int] = (3, 2), **spec: Any
) -> Iterator[Move]:
    """Make and fill a topic, and begin to move it slowly; take all of that away after."""
    clients.create_topic(name, ",".join([source] * PARTITIONS))
    clients.fill(name, PARTITIONS, PARTITION_BYTES)
    move = Move(clients.namespace, name)
    targets = {(name, partition): target for partition in range(PARTITIONS)}
    execution = {"throttle": {"rate": SLOW}}
    clients.namespace.apply(reassignment(name, targets, **{"execution": execution, **spec}))
    try:
        yield move
    finally:
        clients.namespace.delete("preassign", name)
        clients.delete_topic(name)
