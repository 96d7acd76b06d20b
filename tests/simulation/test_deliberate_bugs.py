"""Five mistakes, each put in on purpose and each found: the simulation would notice the real ones.

Each bug replaces one small function. The number of seeds is several times what it takes.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from ballast.broker.fetcher import Fetcher
from ballast.broker.partition import Partition
from ballast.controller.reassignment import Reassignment
from ballast.reassign import decide
from ballast.reassign import throttling as throttling_module
from ballast.reassign.memory import Memory
from ballast.reassign.throttling import ThrottleChange, Throttling
from ballast.replication.partition import LeaderView
from ballast.zk.client import Operation
from ballast.zk.fencing import FencedWriter
from tests.simulation.replica_group import Replica, ReplicaGroup
from tests.simulation.scenario import run_seed
from tests.simulation.violations import InvariantViolation

WALKS = 3_000
STEPS = 400


def rule_broken(seeds: int) -> str | None:
    """Return the first rule that one of the seeds finds broken."""
    for seed in range(seeds):
        failure = run_seed(seed).failure
        if isinstance(failure, InvariantViolation):
            return failure.rule
    return None


def test_a_controller_that_does_not_check_its_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unfenced(writer: FencedWriter, operations: Sequence[Operation]) -> Any:
        return await writer._client.multi(operations)

    monkeypatch.setattr(FencedWriter, "multi", unfenced)

    assert rule_broken(seeds=3) == "C1"


def test_the_topic_is_settled_before_the_old_replicas_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """B6 before B4: a controller that dies in between forgets which replicas are to go."""
    take_removed_offline = Reassignment._take_removed_offline

    async def settle_first(reassignment: Reassignment, complete: Any) -> Any:
        await reassignment._store_settled(complete)
        return await take_removed_offline(reassignment, complete)

    monkeypatch.setattr(Reassignment, "_take_removed_offline", settle_first)

    assert rule_broken(seeds=20) == "R4"


def test_a_high_watermark_over_the_isr_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that is being added may be elected already: it must have what is committed."""
    monkeypatch.setattr(LeaderView, "required_replicas", lambda view: view.isr)

    violations = (ReplicaGroup(seed).walk(STEPS) for seed in range(WALKS))

    assert next(filter(None, violations)).startswith("P7")


class TestTruncationToTheHighWatermark:
    """What Kafka did before KIP-101: a follower drops what it does not know to be committed."""

    def test_is_found_by_the_model(self) -> None:
        class Group(ReplicaGroup):
            def last_fetched_epoch(self, broker: Replica) -> int:
                del broker
                return -1

            def become_follower(self, broker: Replica) -> None:
                broker.truncate(broker.high_watermark)

        violations = (Group(seed).walk(STEPS) for seed in range(WALKS))

        assert next(filter(None, violations)) is not None

    def test_is_found_by_the_simulation(self, monkeypatch: pytest.MonkeyPatch) -> None:
        add = Fetcher.add

        def truncate_first(fetcher: Fetcher, partition: Partition) -> None:
            partition.truncate(partition.high_watermark)
            add(fetcher, partition)

        monkeypatch.setattr(Fetcher, "add", truncate_first)

        assert rule_broken(seeds=60) in {"P1", "P2", "P3", "P4", "P7"}


def test_a_throttle_that_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reconciler knows how to set a throttle, and not that it has to be taken away."""

    def only_to_set(memory: Memory, throttling: Throttling, *rest: Any, **options: Any) -> Any:
        if throttling.bytes_per_second is None:
            return ThrottleChange()
        return throttling_module.wanted_change(memory, throttling, *rest, **options)

    monkeypatch.setattr(decide, "wanted_change", only_to_set)

    assert rule_broken(seeds=20) == "R10"
