"""Closes clients of librdkafka without waiting for ever.

When a broker goes away while a consumer asks it where an epoch ended, threads of librdkafka may
wait for one another, and closing the consumer then never ends (librdkafka issue 5476). Nothing of
what it has read depends on that: such a client is left to itself.
"""

import threading
from typing import Protocol

CLOSE_TIMEOUT_S = 30.0


class Client(Protocol):
    """What can be closed."""

    def close(self) -> object:
        """Leave the cluster, and give back what is held."""


def close_in_time(client: Client, timeout_s: float = CLOSE_TIMEOUT_S) -> bool:
    """Close a client; False when that goes on after ``timeout_s``, and it is left to itself."""
    closing = threading.Thread(target=client.close, name="closing", daemon=True)
    closing.start()
    closing.join(timeout_s)
    return not closing.is_alive()
