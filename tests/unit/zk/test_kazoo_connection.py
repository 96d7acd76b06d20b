"""kazoo's thread handler with the event loop in place of its workers."""

import socket

from kazoo.protocol.states import Callback, EventType, WatchedEvent

from ballast.zk import kazoo_connection


class Told:
    def heard(self) -> None: ...

    def state_changed(self, state: str, session_id: int, timeout_ms: int) -> None: ...

    def stopped(self) -> None: ...


def test_watch_events_are_posted_in_order_but_not_those_of_lost_connections() -> None:
    posted: list[tuple[object, ...]] = []
    client = kazoo_connection.make_client(
        "127.0.0.1:1", 1.0, Told(), lambda *call: posted.append(call)
    )
    for kind in (EventType.CHANGED, EventType.NONE, EventType.DELETED):
        event = WatchedEvent(kind, None, "/a")
        client.handler.dispatch_callback(Callback("watch", print, (event,)))
    assert posted == [(print, "CHANGED", "/a"), (print, "DELETED", "/a")]


def test_select() -> None:
    client = kazoo_connection.make_client("127.0.0.1:1", 1.0, Told(), lambda *_: None)
    near, far = socket.socketpair()
    with near, far:
        assert client.handler.select([near], [], [], 0) == ([], [], [])
        assert client.handler.select([near], [far], [], 0) == ([], [far], [])
        far.send(b"x")
        assert client.handler.select([near, far], [], [], None) == ([near], [], [])
