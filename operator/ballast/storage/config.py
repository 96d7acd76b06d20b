"""A log's settings, under Kafka's names and with Kafka's defaults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ballast.storage.errors import InvalidLogConfig

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Settings of one log (Kafka's LogConfig). ``message.timestamp.type`` is always CreateTime."""

    segment_bytes: int = 1 << 30
    """``segment.bytes``: a segment that would grow beyond it is rolled."""
    segment_ms: int = 7 * 24 * 3_600_000
    """``segment.ms``: a segment rolls when a batch's timestamp is that far beyond its first."""
    index_interval_bytes: int = 4096
    """``index.interval.bytes``: bytes of records between two index entries."""
    max_message_bytes: int = 1_048_588
    """``max.message.bytes``: the largest batch a producer may append."""
    producer_id_expiration_ms: int = 7 * 24 * 3_600_000
    """``producer.id.expiration.ms``; Kafka 2.8 takes ``transactional.id.expiration.ms``."""

    def with_overrides(self, properties: Mapping[str, str]) -> "LogConfig":
        """Return these settings changed by a topic's own; names of other parts are left alone.

        Raises `InvalidLogConfig` naming the first setting whose value Kafka would refuse.
        """
        if properties.get("message.timestamp.type", "CreateTime") != "CreateTime":
            raise InvalidLogConfig("message.timestamp.type: only CreateTime is kept")
        changes = {
            field: parse(name, properties[name])
            for name, (field, parse) in _SETTINGS.items()
            if name in properties
        }
        return replace(self, **changes)


def _integer(minimum: int, maximum: int) -> Callable[[str, str], int]:
    def parse(name: str, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise InvalidLogConfig(f"{name}: {text!r} is no number") from None
        if not minimum <= value <= maximum:
            raise InvalidLogConfig(f"{name}: {value} is outside {minimum}..{maximum}")
        return value

    return parse


_SETTINGS: Mapping[str, tuple[str, Callable[[str, str], int]]] = {
    "segment.bytes": ("segment_bytes", _integer(14, INT_MAX)),
    "segment.ms": ("segment_ms", _integer(1, LONG_MAX)),
    "index.interval.bytes": ("index_interval_bytes", _integer(0, INT_MAX)),
    "max.message.bytes": ("max_message_bytes", _integer(0, INT_MAX)),
}
