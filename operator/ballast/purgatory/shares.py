"""Fair shares of a bounded number of waits, so that no client uses up those of others.

Up to ``capacity`` every wait is admitted. Above it a connection may still have its fair share:
``capacity`` divided by the number of addresses with waits, and the part of an address divided by
its connections with waits; at least one. So a client that opens many connections, or waits often on
one, reaches only its own bound, and ordinary clients are never refused.
Constraint: of n connections of one address the k-th that waits has at most ``capacity`` / k beyond
the first ``capacity``, or one. So all together have at most ``capacity`` * (2 + ln n) + n.
"""

Holder = tuple[str, int]
"""The client's address, and the number of its connection."""


class WaitShares:
    """Counts waits by address and connection."""

    __slots__ = ("_capacity", "_of", "_total")

    def __init__(self, capacity: int) -> None:
        """Make it; ``capacity`` is how many waits are admitted without a look at shares."""
        self._capacity = capacity
        self._of: dict[str, dict[int, int]] = {}
        """Waits of each connection, by address."""
        self._total = 0

    @property
    def total(self) -> int:
        """Waits that have begun and not ended."""
        return self._total

    def count(self, holder: Holder) -> int:
        """Return the waits of one connection."""
        address, connection_id = holder
        return self._of.get(address, {}).get(connection_id, 0)

    def begin(self, holder: Holder) -> bool:
        """Count one more wait of a connection, unless it is over its share."""
        address, connection_id = holder
        connections = self._of.get(address, {})
        count = connections.get(connection_id, 0)
        if self._total >= self._capacity and count >= self._share(address, connection_id):
            return False
        self._of.setdefault(address, connections)[connection_id] = count + 1
        self._total += 1
        return True

    def end(self, holder: Holder) -> None:
        """Count one wait less of a connection that has one."""
        address, connection_id = holder
        connections = self._of[address]
        left = connections[connection_id] - 1
        if left:
            connections[connection_id] = left
        else:
            del connections[connection_id]
            if not connections:
                del self._of[address]
        self._total -= 1

    def _share(self, address: str, connection_id: int) -> int:
        connections = self._of.get(address, {})
        addresses = len(self._of) + (address not in self._of)
        of_address = len(connections) + (connection_id not in connections)
        return max(1, self._capacity // addresses // of_address)
