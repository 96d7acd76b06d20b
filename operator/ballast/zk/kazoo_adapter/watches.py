"""The watches that a client has armed: each callable once per znode, called once."""

from enum import Enum, auto

from ballast.zk.client import Watch, WatchEvent, WatchKind


class WatchedThing(Enum):
    """What of a znode is watched."""

    DATA = auto()
    """Its data, and that it exists."""
    ABSENCE = auto()
    """That it does not exist."""
    CHILDREN = auto()


_SEEN_BY = {
    WatchKind.CREATED: (WatchedThing.ABSENCE, WatchedThing.DATA),
    WatchKind.CHANGED: (WatchedThing.DATA, WatchedThing.ABSENCE),
    WatchKind.DELETED: (WatchedThing.DATA, WatchedThing.ABSENCE, WatchedThing.CHILDREN),
    WatchKind.CHILD: (WatchedThing.CHILDREN,),
    WatchKind.UNCERTAIN: tuple(WatchedThing),
}


class WatchRegistry:
    """Armed watches by znode, in the order in which they were armed."""

    def __init__(self) -> None:
        # Dicts serve as ordered sets: the order of calls is the order of arming.
        self._armed: dict[str, dict[WatchedThing, dict[Watch, None]]] = {}

    def arm(self, thing: WatchedThing, path: str, watch: Watch | None) -> None:
        """Arm a watch; None arms nothing."""
        if watch is not None:
            self._armed.setdefault(path, {}).setdefault(thing, {})[watch] = None

    def fire(self, event: WatchEvent) -> None:
        """Call and forget the watches that see an event."""
        things = self._armed.get(event.path)
        if things is None:
            return
        called: dict[Watch, None] = {}
        for thing in _SEEN_BY[event.kind]:
            called.update(things.pop(thing, {}))
        if not things:
            del self._armed[event.path]
        for watch in called:
            watch(event)

    def fire_all_uncertain(self) -> None:
        """Call and forget all watches: the connection was lost and is back."""
        for path in list(self._armed):
            self.fire(WatchEvent(WatchKind.UNCERTAIN, path))

    def clear(self) -> None:
        """Forget all watches without calling them: the session has ended."""
        self._armed.clear()
