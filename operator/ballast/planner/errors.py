"""What the planner refuses."""

from ballast.model.ids import TopicPartition


class PlannerError(Exception):
    """Any refusal of this package."""


class SnapshotRejected(PlannerError):
    """A snapshot that no cluster can be in, or that is not written as ``ballast-snapshot/v1``."""


class PlanStale(PlannerError):
    """A plan that was made for another cluster, or for this one at another time."""


class OptionsRejected(PlannerError):
    """Options that do not go together, or that the snapshot knows nothing of."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        """Which one, by its name in a manifest."""
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Return how to make it anew: it may be raised in another process than hears of it."""
        return type(self), (self.option, self.reason)


class Infeasible(PlannerError):
    """No assignment does what is asked; the message says for which partition, and why."""

    def __init__(self, topic_partition: TopicPartition, reason: str, total: int) -> None:
        others = f" (and {total - 1} other partitions)" if total > 1 else ""
        super().__init__(f"{topic_partition}: {reason}{others}")
        self.topic_partition = topic_partition
        """The first of them."""
        self.reason = reason
        self.total = total
        """How many partitions it is true of."""

    def __reduce__(self) -> tuple[type, tuple[TopicPartition, str, int]]:
        """Return how to make it anew: it may be raised in another process than hears of it."""
        return type(self), (self.topic_partition, self.reason, self.total)
