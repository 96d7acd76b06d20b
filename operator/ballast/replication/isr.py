"""The ISR while a change to it is being written (Kafka's ``IsrState``).

The leader writes ISR changes itself, as a compare-and-set on the partition's state znode. Two sets
matter until the outcome is known:

| state         | ``isr`` (as last read)  | ``maximal_isr`` (possible members)    |
|---------------|-------------------------|---------------------------------------|
| Committed     | the znode's             | the same                              |
| PendingExpand | without the new member  | with it: it may be elected already    |
| PendingShrink | with the leaving member | with it: it may still be elected      |

The high watermark is the minimum over the maximal ISR, so that every broker that a controller may
elect has all acknowledged records. While the outcome is unknown, the state stays pending: only a
read of the znode with another version resolves it (`settled_by`).
"""

from dataclasses import dataclass, field

from ballast.model.leadership import LeaderAndIsr


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The ISR is that of the znode."""

    leader_and_isr: LeaderAndIsr
    isr: frozenset[int] = field(init=False)
    """The in-sync replicas as last read."""
    maximal_isr: frozenset[int] = field(init=False)
    """Every broker that may be in the ISR."""

    def __post_init__(self) -> None:
        # Computed once, since every fetch of a follower reads them.
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
    """Return the state while ``leaving``, which never includes the leader, are being removed."""
    assert state.leader_and_isr.leader not in leaving, "the leader is in the ISR"
    isr = tuple(r for r in state.leader_and_isr.isr if r not in leaving)
    return PendingShrink(
        leader_and_isr=state.leader_and_isr,
        proposed=state.leader_and_isr.led_by(state.leader_and_isr.leader, isr),
    )


def settled_by(state: PendingExpand | PendingShrink, read: LeaderAndIsr) -> IsrState:
    """Return the state after the znode was read again and showed ``read``.

    If the version is the one that the write expects, the write has not been applied *yet*. The
    state stays pending and the same write must be retried, since only a definite reply to it rules
    out that it is applied late. A newer version resolves it, even if it is of another write.
    """
    if read.zk_version <= state.proposed.zk_version:
        return state
    return Committed(leader_and_isr=read)
