"""Plans of any size, made one move at a time."""

from collections.abc import Iterator

from ballast.model.ids import TopicPartition
from ballast.reassign.plan.plan import PlannedMove


def big_plan(topics: int, partitions: int, *, brokers: int = 50) -> Iterator[PlannedMove]:
    """Yield moves of one replica each; what goes where looks random and is always the same."""
    state = 1
    for topic in range(topics):
        for partition in range(partitions):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            first = state % brokers
            second = (first + 1 + (state >> 8) % (brokers - 1)) % brokers
            yield PlannedMove(
                topic_partition=TopicPartition(f"topic-{topic:05}", partition),
                origin=(first, second),
                target=(first, brokers + (state >> 16) % 10),
            )
