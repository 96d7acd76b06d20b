"""What happened in a run: the last lines to be read, and a digest to compare runs by."""

import zlib
from collections import deque

LINES_KEPT = 400


class Trace:
    """The last lines of a run and a checksum over all of them."""

    def __init__(self, lines_kept: int = LINES_KEPT) -> None:
        self.lines: deque[str] = deque(maxlen=lines_kept)
        self.digest = 0
        self.count = 0

    def add(self, now: float, host: str, text: str) -> None:
        """Add one line; ``now`` in virtual seconds."""
        line = f"{now:10.4f} {host:12} {text}"
        self.lines.append(line)
        self.digest = zlib.crc32(line.encode(), self.digest)
        self.count += 1

    def tail(self, lines: int = 60) -> str:
        """Return the last lines."""
        return "\n".join(list(self.lines)[-lines:])
