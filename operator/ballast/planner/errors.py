"""The errors of the planner."""

from ballast.model.ids import TopicPartition


class PlannerError(Exception):
    """The base of all errors of this package."""


class SnapshotRejected(PlannerError):
    """A snapshot that describes no possible cluster, or that is not ``ballast-snapshot/v1``."""


class PlanStale(PlannerError):
    """A plan that was computed for another cluster, or for this one at another time."""


class OptionsRejected(PlannerError):
    """Options that contradict each other or the snapshot."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(f"{option}: {reason}")
        self.option = option
        """The option, by its name in a manifest."""
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        """Return the constructor and its arguments: errors cross process borders by pickle."""
        return type(self), (self.option, self.reason)


class Infeasible(PlannerError):
    """No assignment satisfies the options; the message names the partition and the reason."""

    def __init__(self, topic_partition: TopicPartition, reason: str, total: int) -> None:
        others = f" (and {total - 1} other partitions)" if total > 1 else ""
        super().__init__(f"{topic_partition}: {reason}{others}")
        self.topic_partition = topic_partition
        """The first such partition."""
        self.reason = reason
        self.total = total
        """Number of such partitions."""

    def __reduce__(self) -> tuple[type, tuple[TopicPartition, str, int]]:
        """Return the constructor and its arguments: errors cross process borders by pickle."""
        return type(self), (self.topic_partition, self.reason, self.total)
