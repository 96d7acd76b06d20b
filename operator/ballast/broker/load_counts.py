"""What clients did with one partition: counted by requests, taken by whoever reports it."""

from typing import NamedTuple


class Counted(NamedTuple):
    """What was counted between two takings."""

    bytes_in: int
    bytes_out: int
    produce_requests: int
    fetch_requests: int


class LoadCounts:
    """Plain numbers, added to once per partition and request."""

    __slots__ = ("bytes_in", "bytes_out", "fetch_requests", "produce_requests")

    def __init__(self) -> None:
        self._reset()

    def take(self) -> Counted:
        """Return what was counted, and begin anew."""
        counted = Counted(self.bytes_in, self.bytes_out, self.produce_requests, self.fetch_requests)
        self._reset()
        return counted

    def _reset(self) -> None:
        self.bytes_in = 0
        """Bytes of records appended from producers, as they are stored."""
        self.bytes_out = 0
        """Bytes of records sent to consumers."""
        self.produce_requests = 0
        self.fetch_requests = 0
        """Of consumers."""
