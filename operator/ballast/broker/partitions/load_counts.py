"""What clients did with one partition, counted by requests."""

from typing import NamedTuple


class Counted(NamedTuple):
    """What was counted between two takings."""

    bytes_in: int
    bytes_out: int
    produce_requests: int
    fetch_requests: int


class LoadCounts:
    """Plain totals, added to once per partition and request."""

    __slots__ = (
        "_taken",
        "bytes_in",
        "bytes_out",
        "fetch_requests",
        "messages_in",
        "produce_requests",
    )

    def __init__(self) -> None:
        self.bytes_in = 0
        """Bytes of records appended from producers, as they are stored."""
        self.bytes_out = 0
        """Bytes of records sent to consumers."""
        self.messages_in = 0
        """Records appended from producers."""
        self.produce_requests = 0
        self.fetch_requests = 0
        """Of consumers."""
        self._taken = Counted(0, 0, 0, 0)

    def take(self) -> Counted:
        """Return what was counted since the last taking."""
        total = Counted(self.bytes_in, self.bytes_out, self.produce_requests, self.fetch_requests)
        before, self._taken = self._taken, total
        return Counted(*(now - then for now, then in zip(total, before, strict=True)))
