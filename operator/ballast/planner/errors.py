"""What the planner refuses."""

from ballast.model.ids import TopicPartition


class PlannerError(Exception):
    """Any refusal of this package."""


class SnapshotRejected(PlannerError):
    """A snapshot that no cluster can be in."""


class Infeasible(PlannerError):
    """No assignment does what is asked; the message says for which partition, and why."""

    def __init__(self, topic_partition: TopicPartition, reason: str, total: int) -> None:
        others = f" (and {total - 1} other partitions)" if total > 1 else ""
        super().__init__(f"{topic_partition}: {reason}{others}")
        self.topic_partition = topic_partition
        """The first of them."""
        self.total = total
        """How many partitions it is true of."""
