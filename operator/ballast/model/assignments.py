"""Where a partition's replicas are, and where they are going.

Kafka's symbols (KIP-455): RS = replicas, AR = adding, RR = removing, ORS = origin, TRS = target.
"""

from collections.abc import Iterable

import msgspec


class ReplicaAssignment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """RS, AR and RR of one partition.

    Invariant: AR and RR are disjoint subsets of RS; none of the three names a broker twice.
    """

    replicas: tuple[int, ...]
    """RS, in order of preference: the first is the preferred leader."""
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()

    @classmethod
    def of(cls, *replicas: int) -> "ReplicaAssignment":
        """Return a settled assignment."""
        return cls(replicas=replicas)

    @property
    def is_being_reassigned(self) -> bool:
        """Whether a reassignment is pending."""
        return bool(self.adding_replicas or self.removing_replicas)

    @property
    def origin_replicas(self) -> tuple[int, ...]:
        """ORS: the replicas before the first pending change, in today's order."""
        return tuple(r for r in self.replicas if r not in self.adding_replicas)

    @property
    def target_replicas(self) -> tuple[int, ...]:
        """TRS: the replicas after the pending change."""
        return tuple(r for r in self.replicas if r not in self.removing_replicas)

    @property
    def preferred_replica(self) -> int:
        """The replica that leads when all are well."""
        return self.replicas[0]

    def reassign_to(self, target: Iterable[int]) -> "ReplicaAssignment":
        """Return the assignment that moves towards ``target``.

        The origin stays that of the first pending change, so that an override or a cancel
        (``reassign_to(origin_replicas)``) never loses the original set.
        """
        target = tuple(target)
        origin = self.origin_replicas
        return ReplicaAssignment(
            replicas=tuple(dict.fromkeys(target + origin)),
            adding_replicas=tuple(r for r in target if r not in origin),
            removing_replicas=tuple(r for r in origin if r not in target),
        )

    def settled(self) -> "ReplicaAssignment":
        """Return the assignment after the pending change has completed: RS = TRS, no AR, no RR."""
        return ReplicaAssignment(replicas=self.target_replicas)
