"""What an operator may set for the coordinator, under Kafka's own names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Bounds of groups, as the broker properties of the same names give them; times are ms."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    max_size: int = 2**31 - 1
    """Members that one group may have."""
    initial_rebalance_delay_ms: int = 3_000
    """How long an empty group waits for more members after each that joins."""
    offset_metadata_max_bytes: int = 4_096
    """Length of what may be kept with a committed offset, in characters as in Kafka."""
    offsets_retention_ms: int = 10_080 * 60_000
    """How long the offsets of a group without members are kept."""
