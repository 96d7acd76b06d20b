"""Random walks keep the promises, and each published mistake breaks one of them."""

import pytest

from ballast.replication.isr import Committed
from ballast.replication.partition import LeaderView
from tests.simulation.replica_group import Replica, ReplicaGroup

WALKS = 60
STEPS = 400


@pytest.mark.parametrize("chunk", range(4))
def test_no_walk_breaks_a_predicate(chunk: int) -> None:
    committed = elections = 0
    for seed in range(chunk * WALKS, (chunk + 1) * WALKS):
        group = ReplicaGroup(seed)
        violation = group.walk(STEPS)
        assert violation is None, f"seed {seed}: {violation}\n" + "\n".join(group.trace[-40:])
        committed += len(group.committed)
        elections += group.znode.leader_epoch
    # The walks must reach what they are to show.
    assert committed > WALKS * 5
    assert elections > WALKS * 5


def first_violation(walks: type[ReplicaGroup] = ReplicaGroup) -> str | None:
    for seed in range(5_000):
        violation = walks(seed).walk(STEPS)
        if violation is not None:
            return violation
    return None


def test_a_high_watermark_over_the_isr_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LeaderView, "required_replicas", lambda view: view.isr)

    violation = first_violation()

    assert violation is not None
    assert violation.startswith("P7")


class TruncatesToHighWatermark(ReplicaGroup):
    """As Kafka did before KIP-101: no epochs in fetches, truncation when becoming a follower."""

    def last_fetched_epoch(self, broker: Replica) -> int:
        del broker
        return -1

    def become_follower(self, broker: Replica) -> None:
        broker.truncate(broker.high_watermark)


def test_truncation_to_the_high_watermark_is_found() -> None:
    assert first_violation(TruncatesToHighWatermark) is not None


def test_believing_a_lost_shrink_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The member that is being removed may still be elected."""
    monkeypatch.setattr(
        LeaderView,
        "required_replicas",
        lambda view: (
            view.isr
            if isinstance(view._isr_state, Committed)
            else frozenset(view._isr_state.proposed.isr)
        ),
    )

    assert first_violation() is not None
