"""Topics: their names, ids and assignments."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from ballast.model.assignments import ReplicaAssignment

OFFSETS_TOPIC = "__consumer_offsets"
"""Where coordinators keep groups and their offsets."""

LOAD_TOPIC = "__ballast_load"
"""Where brokers keep samples of what the partitions that they lead have carried."""

INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, LOAD_TOPIC, "__transaction_state"})
"""Topics that only brokers write."""

MAX_TOPIC_NAME_LENGTH = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class InvalidTopicName(ValueError):
    """A name that Kafka refuses for a topic; the message says why."""


def check_topic_name(name: str) -> None:
    """Raise `InvalidTopicName` unless ``name`` is legal, and so safe as a znode and folder name.

    The rule is Kafka's (``Topic.validate``): 1 to 249 of ``[a-zA-Z0-9._-]``, not ``.`` or ``..``.
    """
    if not name:
        raise InvalidTopicName("Topic name is illegal, it can't be empty")
    if name in (".", ".."):
        raise InvalidTopicName('Topic name cannot be "." or ".."')
    if len(name) > MAX_TOPIC_NAME_LENGTH:
        raise InvalidTopicName(
            f"Topic name is illegal, it can't be longer than {MAX_TOPIC_NAME_LENGTH} characters"
        )
    if not _LEGAL_NAME.fullmatch(name):
        raise InvalidTopicName(
            f"Topic name {name!r} is illegal, it contains a character other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAssignment:
    """One topic's replicas, partition by partition."""

    topic: str
    topic_id: UUID | None
    """None only for a topic made by a tool that knows no topic ids."""
    partitions: Mapping[int, ReplicaAssignment]
    version: int = -1
    """Version of the topic's znode as it was read; -1 = not read."""
    extra: Mapping[str, object] = field(default_factory=dict)
    """JSON fields of the znode that Ballast does not know, kept as they were."""
