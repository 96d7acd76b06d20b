"""Log directories behind `ClusterAdmin`: moves begin when asked for, and end when a test says."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.ports import ReplicaLogDirs, RequestError


class FakeLogDirs(ABC):
    """Every broker has /data and whatever begins so; replicas lie in /data unless told."""

    def __init__(self) -> None:
        self.log_dirs: dict[tuple[TopicPartition, int], str | None] = {}
        self.future_log_dirs: dict[tuple[TopicPartition, int], str] = {}

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
                current=self.log_dirs.get((tp, broker_id), "/data"),
                future=self.future_log_dirs.get((tp, broker_id)),
            )
            for tp in (TopicPartition(t, p) for t, numbers in topics.items() for p in numbers)
            if self.has_replica(tp, broker_id)
        }
        return {tp: places for tp, places in found.items() if places.current is not None}

    async def alter_replica_log_dirs(
        self, broker_id: int, targets: Mapping[TopicPartition, str]
    ) -> Mapping[TopicPartition, RequestError]:
        self.check_broker(broker_id)
        refused = {}
        for tp, path in targets.items():
            if not path.startswith("/data"):
                refused[tp] = RequestError(error="LOG_DIR_NOT_FOUND", message="no such directory")
            elif not self.has_replica(tp, broker_id):
                refused[tp] = RequestError(error="REPLICA_NOT_AVAILABLE", message="not here")
            elif path == self.log_dirs.get((tp, broker_id), "/data"):
                self.future_log_dirs.pop((tp, broker_id), None)
            else:
                self.future_log_dirs[tp, broker_id] = path
        return refused
