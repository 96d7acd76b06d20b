"""A client that closes, and one that never does."""

import threading

from ballast.cli.embedded.closing import close_in_time


class Client:
    """Closes once the test permits it."""

    def __init__(self) -> None:
        self.can_close = threading.Event()
        self.is_closed = threading.Event()

    def close(self) -> None:
        self.can_close.wait(60)
        self.is_closed.set()


def test_what_closes_is_waited_for() -> None:
    client = Client()
    client.can_close.set()
    assert close_in_time(client)
    assert client.is_closed.is_set()


def test_what_does_not_close_is_left() -> None:
    client = Client()
    assert not close_in_time(client, 0.01)
    assert not client.is_closed.is_set()
    client.can_close.set()
    assert client.is_closed.wait(60)
