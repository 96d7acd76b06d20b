"""Who leads a partition and who is in sync with it: the content of its state znode."""

import msgspec

from ballast.model.ids import NO_LEADER


class LeaderAndIsr(msgspec.Struct, frozen=True, kw_only=True, gc=False):
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

    # A struct, and these written out, since an election makes three for each of thousands of
    # partitions: a frozen data class and `replace` cost five times as much.

    def led_by(self, leader: int, isr: tuple[int, ...]) -> "LeaderAndIsr":
        """Return the state with another leader and ISR."""
        return LeaderAndIsr(
            leader=leader,
            leader_epoch=self.leader_epoch,
            isr=isr,
            controller_epoch=self.controller_epoch,
            zk_version=self.zk_version,
        )

    def to_replace(self, stored: "LeaderAndIsr", controller_epoch: int) -> "LeaderAndIsr":
        """Return the state as its writer writes it over ``stored``, under the next leader epoch."""
        return LeaderAndIsr(
            leader=self.leader,
            leader_epoch=stored.leader_epoch + 1,
            isr=self.isr,
            controller_epoch=controller_epoch,
            zk_version=stored.zk_version,
        )

    def at_version(self, zk_version: int) -> "LeaderAndIsr":
        """Return the state as it stands in the znode after the write that made this version."""
        return LeaderAndIsr(
            leader=self.leader,
            leader_epoch=self.leader_epoch,
            isr=self.isr,
            controller_epoch=self.controller_epoch,
            zk_version=zk_version,
        )
