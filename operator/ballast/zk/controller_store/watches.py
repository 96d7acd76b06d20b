"""Watches of the controller: each ZooKeeper event becomes one of `controller.state.events`.

The callables are bound methods, so that arming one twice on a znode arms it once. An event whose
kind is `UNCERTAIN` is an event like the others: the handler reads, and by that arms again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ballast.controller.state.events import (
    BrokerChange,
    ConfigChange,
    Event,
    IsrChangeNotification,
    LogDirEventNotification,
    PartitionModifications,
    TopicChange,
    TopicDeletion,
    ZkPartitionReassignment,
    ZkPreferredElection,
)
from ballast.zk.client import WatchEvent, WatchKind
from ballast.znodes import topics


class ControllerWatches:
    """The watches of one elected controller, silent after `close`."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._is_closed = False
        self._is_writing_reassignments = False

    def close(self) -> None:
        """Report nothing more."""
        self._is_closed = True

    def broker_ids_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /brokers/ids."""
        self._emit(BrokerChange())

    def broker_changed(self, event: WatchEvent) -> None:
        """React to a changed registration; the parent's watch announces its deletion."""
        if event.kind is not WatchKind.DELETED:
            self._emit(BrokerChange())

    def topics_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /brokers/topics."""
        self._emit(TopicChange())

    def topic_changed(self, event: WatchEvent) -> None:
        """React to a changed or deleted topic znode."""
        self._emit(PartitionModifications(topics.topic_of(event.path)))

    def deletions_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /admin/delete_topics."""
        self._emit(TopicDeletion())

    def isr_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /isr_change_notification."""
        self._emit(IsrChangeNotification())

    def log_dirs_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /log_dir_event_notification."""
        self._emit(LogDirEventNotification())

    def configs_changed(self, _: WatchEvent) -> None:
        """React to a change of the children of /config/changes."""
        self._emit(ConfigChange())

    def preferred_election_changed(self, _: WatchEvent) -> None:
        """React to a change of /admin/preferred_replica_election."""
        self._emit(ZkPreferredElection())

    def reassignments_changed(self, _: WatchEvent) -> None:
        """React to a change of /admin/reassign_partitions that is not this controller's."""
        if not self._is_writing_reassignments:
            self._emit(ZkPartitionReassignment())

    @contextmanager
    def writing_reassignments(self) -> Iterator[None]:
        """Take changes of /admin/reassign_partitions for this controller's own meanwhile.

        Taken for a new order, its own rewriting would start the remaining moves once more.
        """
        self._is_writing_reassignments = True
        try:
            yield
        finally:
            self._is_writing_reassignments = False

    def _emit(self, event: Event) -> None:
        if not self._is_closed:
            self._on_event(event)
