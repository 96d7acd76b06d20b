"""Closes clients of librdkafka within a time limit.

When a broker goes away while a consumer asks it where an epoch ended, threads of librdkafka may
wait for one another, and closing the consumer then never ends (librdkafka issue 5476). What the
consumer has read does not depend on that, so such a client is abandoned.
"""

import threading
from typing import Protocol

CLOSE_TIMEOUT_S = 30.0


class Client(Protocol):
    """What can be closed."""

    def close(self) -> object:
        """Leave the cluster and release resources."""


def close_in_time(client: Client, timeout_s: float = CLOSE_TIMEOUT_S) -> bool:
    """Close a client; return False if it is still closing after ``timeout_s``."""
    closing = threading.Thread(target=client.close, name="closing", daemon=True)
    closing.start()
    closing.join(timeout_s)
    return not closing.is_alive()
