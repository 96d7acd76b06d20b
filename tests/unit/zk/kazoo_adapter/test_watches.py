from ballast.zk.client import WatchEvent, WatchKind
from ballast.zk.kazoo_adapter.watches import WatchedThing
from tests.fakes.zookeeper_client import ListedWatches


class Recorder:
    def __init__(self) -> None:
        self.seen: list[WatchEvent] = []

    def __call__(self, event: WatchEvent) -> None:
        self.seen.append(event)


def test_each_event_reaches_what_watches_that_thing() -> None:
    for kind, expected in (
        (WatchKind.CREATED, {WatchedThing.ABSENCE, WatchedThing.DATA}),
        (WatchKind.CHANGED, {WatchedThing.ABSENCE, WatchedThing.DATA}),
        (WatchKind.DELETED, set(WatchedThing)),
        (WatchKind.CHILD, {WatchedThing.CHILDREN}),
        (WatchKind.UNCERTAIN, set(WatchedThing)),
    ):
        registry = ListedWatches()
        recorders = {thing: Recorder() for thing in WatchedThing}
        for thing, recorder in recorders.items():
            registry.arm(thing, "/a", recorder)
            registry.arm(thing, "/b", recorder)
        registry.fire(WatchEvent(kind, "/a"))
        registry.fire(WatchEvent(kind, "/a"))
        assert {t for t, r in recorders.items() if r.seen == [WatchEvent(kind, "/a")]} == expected
        assert {thing for thing, path in registry.armed() if path == "/b"} == set(WatchedThing)


def test_one_callable_is_called_once_however_often_it_is_armed() -> None:
    registry, recorder = ListedWatches(), Recorder()
    for thing in WatchedThing:
        registry.arm(thing, "/a", recorder)
        registry.arm(thing, "/a", recorder)
    registry.fire(WatchEvent(WatchKind.DELETED, "/a"))
    assert len(recorder.seen) == 1
    assert registry.armed() == []


def test_a_watch_may_be_armed_again_while_it_is_called() -> None:
    registry = ListedWatches()
    calls: list[WatchEvent] = []

    def again(event: WatchEvent) -> None:
        calls.append(event)
        registry.arm(WatchedThing.DATA, "/a", again)

    registry.arm(WatchedThing.DATA, "/a", again)
    registry.fire(WatchEvent(WatchKind.CHANGED, "/a"))
    registry.fire(WatchEvent(WatchKind.CHANGED, "/a"))
    assert len(calls) == 2
    registry.fire_all_uncertain()
    assert calls[-1] == WatchEvent(WatchKind.UNCERTAIN, "/a")
    registry.clear()
    registry.fire_all_uncertain()
    assert len(calls) == 3
    registry.arm(WatchedThing.DATA, "/a", None)
    assert registry.armed() == []
