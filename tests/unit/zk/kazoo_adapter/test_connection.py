"""kazoo's connection and handler without its worker threads."""

import socket
import struct

from kazoo.exceptions import NoNodeError

from ballast.zk.errors import NoNode, ZooKeeperError
from ballast.zk.kazoo_adapter import connection as kazoo_connection


class Told:
    def __init__(self) -> None:
        self.events: list[tuple[int, str]] = []

    def heard(self) -> None: ...

    def watch_fired(self, event_type: int, path: str) -> None:
        self.events.append((event_type, path))

    def state_changed(self, state: str, session_id: int, timeout_ms: int) -> None: ...

    def stopped(self) -> None: ...


def test_watch_events_are_told_with_their_paths_in_the_chroot() -> None:
    told = Told()
    client = kazoo_connection.make_client("127.0.0.1:1/base", 1.0, told)
    for event_type, path in ((3, b"/base/a"), (2, b"/base")):
        event = struct.pack(f">iii{len(path)}s", event_type, 3, len(path), path)
        client._connection._read_watch_event(b"?" + event, 1)
    assert told.events == [(3, "/a"), (2, "/")]


def test_replies_and_errors_go_to_their_takers() -> None:
    values: list[object] = []
    errors: list[ZooKeeperError] = []
    reply = kazoo_connection.Reply("/a", values.append, errors.append)
    reply.set(1)
    reply.set_exception(NoNodeError())
    assert values == [1]
    assert [(type(error), str(error)) for error in errors] == [(NoNode, "/a")]


def test_select() -> None:
    client = kazoo_connection.make_client("127.0.0.1:1", 1.0, Told())
    near, far = socket.socketpair()
    with near, far:
        assert client.handler.select([near], [], [], 0) == ([], [], [])
        assert client.handler.select([near], [far], [], 0) == ([], [far], [])
        far.send(b"x")
        assert client.handler.select([near, far], [], [], None) == ([near], [], [])
