"""What an operator may set for the coordinator, under Kafka's own names."""

from dataclasses import dataclass

from ballast.model.settings.fields import default_of, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Bounds of groups, as the broker properties of the same names give them; times are ms."""

    min_session_timeout_ms: int = setting("group.min.session.timeout.ms")
    max_session_timeout_ms: int = setting("group.max.session.timeout.ms")
    max_size: int = setting("group.max.size")
    """Members that one group may have."""
    initial_rebalance_delay_ms: int = setting("group.initial.rebalance.delay.ms")
    """How long an empty group waits for more members after each that joins."""
    offset_metadata_max_bytes: int = setting("offset.metadata.max.bytes")
    """Length of what may be kept with a committed offset, in characters as in Kafka."""
    offsets_retention_ms: int = default_of("offsets.retention.minutes") * 60_000
    """How long the offsets of a group without members are kept."""
