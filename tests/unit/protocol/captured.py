"""The captured frames of tests/golden/protocol."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GOLDEN = Path(__file__).parents[2] / "golden" / "protocol"


class Captured(NamedTuple):
    """One frame, without its size."""

    source: str
    direction: str
    api_key: int
    version: int
    frame: bytes

    def __str__(self) -> str:
        return f"{self.source}-{self.direction}-v{self.version}"


def captured(api_key: int | None = None) -> list[Captured]:
    """Return the frames of one API, or of all."""
    return [found for found in _read_all() if api_key in (None, found.api_key)]


def _read_all() -> Iterator[Captured]:
    for path in sorted(GOLDEN.glob("*.hex")):
        for line in path.read_text().splitlines():
            direction, key, version, frame = line.split()
            yield Captured(path.stem, direction, int(key), int(version), bytes.fromhex(frame))
