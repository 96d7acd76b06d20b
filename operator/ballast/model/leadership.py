"""Who leads a partition and who is in sync with it: the content of its state znode."""

from dataclasses import dataclass

from ballast.model.ids import NO_LEADER


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndIsr:
    """Leader, in-sync replicas and the epochs that fence them.

    Invariant: ``isr`` is never empty, and ``leader`` is ``NO_LEADER`` or in ``isr``.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    """The epoch of the controller that wrote the leader."""
    zk_version: int = 0
    """Version of the state znode: what the next compare-and-set must name."""

    @property
    def has_leader(self) -> bool:
        """Whether a broker leads the partition."""
        return self.leader != NO_LEADER
