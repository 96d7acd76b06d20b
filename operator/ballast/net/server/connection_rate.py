"""How soon a new connection is served, so that no more are than a rate allows. No I/O, no clock.

Kafka's acceptor sleeps when connections come faster than ``max.connection.creation.rate``
(KIP-612, ConnectionQuotas). Here they are accepted, and their requests are read when it is their
turn; ``max.connections`` bounds how many wait.
"""

BURST_S = 1.0
"""Of how many seconds the connections may come at once."""


class ConnectionRate:
    """Gives each connection its turn."""

    def __init__(self) -> None:
        self._last_turn = float("-inf")

    def delay_s(self, connections_per_s: int, now: float) -> float:
        """Return how long the connection that came at ``now`` waits for its turn, in seconds."""
        self._last_turn = max(self._last_turn, now - BURST_S) + 1 / connections_per_s
        return max(0.0, self._last_turn - now)
