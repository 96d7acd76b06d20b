"""Log directories behind `ClusterAdmin`: moves begin when asked for, and end when a test says.

What is asked of a replica that is yet to come is remembered, as brokers do.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.ports import ReplicaLogDirs, RequestError
from tests.fakes.crash_point import CrashPoint


class FakeLogDirs(ABC):
    """Every broker has /data and whatever begins so; replicas lie in /data unless told."""

    def __init__(self) -> None:
        self.log_dirs: dict[tuple[TopicPartition, int], str | None] = {}
        self.future_log_dirs: dict[tuple[TopicPartition, int], str] = {}
        self.future_bytes = 0
        self.preferred_log_dirs: dict[tuple[TopicPartition, int], str] = {}
        self.log_dir_refusals: dict[tuple[TopicPartition, int], RequestError] = {}
        self.crash_point = CrashPoint()

    def finish_log_dir_moves(self) -> None:
        """Have every copy under way take the place of its replica."""
        self.log_dirs.update(self.future_log_dirs)
        self.future_log_dirs.clear()

    @abstractmethod
    def check_broker(self, broker_id: int) -> None: ...

    @abstractmethod
    def has_replica(self, tp: TopicPartition, broker_id: int) -> bool: ...

    async def replica_log_dirs(
        self, broker_id: int, topics: Mapping[str, Collection[int]]
    ) -> Mapping[TopicPartition, ReplicaLogDirs]:
        self.check_broker(broker_id)
        found = {
            tp: ReplicaLogDirs(
                current=self.log_dir_of(tp, broker_id),
                future=self.future_log_dirs.get((tp, broker_id)),
                future_bytes=self.future_bytes,
            )
            for tp in (TopicPartition(t, p) for t, numbers in topics.items() for p in numbers)
            if self.has_replica(tp, broker_id)
        }
        return {tp: places for tp, places in found.items() if places.current is not None}

    async def broker_log_dirs(self, broker_id: int) -> Collection[str]:
        self.check_broker(broker_id)
        return ("/data", "/data2", "/data3")

    def log_dir_of(self, tp: TopicPartition, broker_id: int) -> str | None:
        """Return where a replica lies, or would."""
        preferred = self.preferred_log_dirs.get((tp, broker_id), "/data")
        return self.log_dirs.get((tp, broker_id), preferred)

    async def alter_replica_log_dirs(
        self, broker_id: int, targets: Mapping[TopicPartition, str]
    ) -> Mapping[TopicPartition, RequestError]:
        self.check_broker(broker_id)
        self.crash_point.before_effect("log dirs")
        refused = {}
        for tp, path in targets.items():
            if (tp, broker_id) in self.log_dir_refusals:
                refused[tp] = self.log_dir_refusals[tp, broker_id]
            elif not path.startswith("/data"):
                refused[tp] = RequestError(error="LOG_DIR_NOT_FOUND", message="no such directory")
            elif not self.has_replica(tp, broker_id):
                refused[tp] = RequestError(error="REPLICA_NOT_AVAILABLE", message="not here")
                self.preferred_log_dirs[tp, broker_id] = path
            elif path == self.log_dir_of(tp, broker_id):
                self.future_log_dirs.pop((tp, broker_id), None)
            else:
                self.future_log_dirs[tp, broker_id] = path
        self.crash_point.after_effect()
        return refused
