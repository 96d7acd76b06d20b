"""The newest offset of each key in the part of a log that is being compacted: a bounded map.

Kafka keeps a hash of 16 bytes and an offset per key (SkimpyOffsetMap); here it is a dictionary,
whose entries take `BYTES_PER_KEY`. When it is full, compaction ends there and goes on next time.
"""

from hashlib import blake2b

BYTES_PER_KEY = 200
"""Of a short key, or the hash of a longer one, with its offset and its dictionary entry."""

_HASH_BYTES = 16


class LatestOffsets:
    """Key to newest offset, for at most ``keys_max`` keys."""

    __slots__ = ("_keys_max", "_offsets", "latest_offset")

    def __init__(self, keys_max: int) -> None:
        assert keys_max > 0, "compaction must be able to go on"
        self._keys_max = keys_max
        self._offsets: dict[bytes, int] = {}
        self.latest_offset = -1
        """The keys of all records up to here, inclusive, are in the map."""

    def put(self, key: bytes, offset: int) -> bool:
        """Add a record, in order of offsets; return whether its key has room."""
        short = _short(key)
        if len(self._offsets) >= self._keys_max and short not in self._offsets:
            return False
        self._offsets[short] = offset
        self.latest_offset = offset
        return True

    def reach(self, offset: int) -> None:
        """Record that there is no other key up to ``offset``."""
        self.latest_offset = max(self.latest_offset, offset)

    def is_superseded(self, key: bytes, offset: int) -> bool:
        """Whether a later record of the key is known."""
        return self._offsets.get(_short(key), -1) > offset


def _short(key: bytes) -> bytes:
    # A hash is longer than any key that is stored itself, so the two cannot be confused.
    return key if len(key) < _HASH_BYTES else blake2b(key, digest_size=_HASH_BYTES).digest()
