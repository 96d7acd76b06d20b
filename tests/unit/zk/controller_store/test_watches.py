import contextlib

from ballast.controller.state.events import BrokerChange, Event, PartitionModifications
from ballast.zk.client import WatchEvent, WatchKind
from ballast.zk.controller_store.watches import ControllerWatches


def test_what_each_watch_reports() -> None:
    events: list[Event] = []
    watches = ControllerWatches(events.append)
    watches.broker_changed(WatchEvent(WatchKind.CHANGED, "/brokers/ids/1"))
    watches.broker_changed(WatchEvent(WatchKind.DELETED, "/brokers/ids/1"))
    watches.topic_changed(WatchEvent(WatchKind.UNCERTAIN, "/brokers/topics/t"))
    assert events == [BrokerChange(), PartitionModifications("t")]


def test_a_watch_is_the_same_callable_each_time() -> None:
    watches = ControllerWatches(lambda _: None)
    assert watches.topic_changed == watches.topic_changed


def test_silent_after_close() -> None:
    events: list[Event] = []
    watches = ControllerWatches(events.append)
    watches.close()
    watches.topics_changed(WatchEvent(WatchKind.CHILD, "/brokers/topics"))
    assert events == []


def test_own_writes_are_muted_even_if_they_fail() -> None:
    events: list[Event] = []
    watches = ControllerWatches(events.append)
    event = WatchEvent(WatchKind.CHANGED, "/admin/reassign_partitions")
    with contextlib.suppress(ZeroDivisionError), watches.writing_reassignments():
        watches.reassignments_changed(event)
        _ = 1 / 0
    watches.reassignments_changed(event)
    assert len(events) == 1
