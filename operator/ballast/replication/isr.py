"""The in-sync replicas while a change to them is being written (Kafka's ``IsrState``).

The leader writes ISR changes itself, as a compare-and-set on the partition's state znode. Until it
knows the outcome, two sets matter:

| state         | ``isr`` (as last read)  | ``maximal_isr`` (what may be true)    |
|---------------|-------------------------|---------------------------------------|
| Committed     | the znode's             | the same                              |
| PendingExpand | without the new member  | with it: it may be elected already    |
| PendingShrink | with the leaving member | with it: it may still be elected      |

The high watermark is taken over the maximal ISR, so that whoever a controller may elect has
everything that was acknowledged. A lost outcome keeps the pending state: only a read of the znode
that shows another version settles it (`settled_by`).
"""

from dataclasses import dataclass, field

from ballast.model.leadership import LeaderAndIsr


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The ISR is what the znode says."""

    leader_and_isr: LeaderAndIsr
    isr: frozenset[int] = field(init=False)
    """The in-sync replicas as last read."""
    maximal_isr: frozenset[int] = field(init=False)
    """Every broker that may be in the ISR."""

    def __post_init__(self) -> None:
        # Every fetch of a follower asks for them.
        isr = frozenset(self.leader_and_isr.isr)
        object.__setattr__(self, "isr", isr)
        object.__setattr__(self, "maximal_isr", isr)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pending:
    leader_and_isr: LeaderAndIsr
    """As last read from the znode."""
    proposed: LeaderAndIsr
    """As it is being written; its ``zk_version`` is the one that the write expects."""

    @property
    def isr(self) -> frozenset[int]:
        """The in-sync replicas as last read."""
        return frozenset(self.leader_and_isr.isr)

    @property
    def maximal_isr(self) -> frozenset[int]:
        """Every broker that may be in the ISR: the union of before and after."""
        return self.isr | frozenset(self.proposed.isr)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingExpand(_Pending):
    """A follower is being added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingShrink(_Pending):
    """Followers are being removed."""


IsrState = Committed | PendingExpand | PendingShrink


def expanding(state: Committed, follower_id: int) -> PendingExpand:
    """Return the state while ``follower_id`` is being added: last in the list, as in Kafka."""
    isr = (*(r for r in state.leader_and_isr.isr if r != follower_id), follower_id)
    return PendingExpand(
        leader_and_isr=state.leader_and_isr,
        proposed=state.leader_and_isr.led_by(state.leader_and_isr.leader, isr),
    )


def shrinking(state: Committed, leaving: frozenset[int]) -> PendingShrink:
    """Return the state while ``leaving`` are being removed; the leader never is."""
    assert state.leader_and_isr.leader not in leaving, "the leader leads the ISR"
    isr = tuple(r for r in state.leader_and_isr.isr if r not in leaving)
    return PendingShrink(
        leader_and_isr=state.leader_and_isr,
        proposed=state.leader_and_isr.led_by(state.leader_and_isr.leader, isr),
    )


def settled_by(state: PendingExpand | PendingShrink, read: LeaderAndIsr) -> IsrState:
    """Return the state after the znode was read again and showed ``read``.

    The version that the write expected means that it has not been applied *yet*: the state stays
    pending and the same write must be tried again, since only a definite answer to it rules out a
    late application. A newer version settles it, whoever wrote it.
    """
    if read.zk_version <= state.proposed.zk_version:
        return state
    return Committed(leader_and_isr=read)
