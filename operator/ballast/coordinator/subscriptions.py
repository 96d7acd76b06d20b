"""Topics that the members of a consumer group subscribe to, read from their protocol metadata.

Members send ``ConsumerProtocolSubscription`` to their leader; the coordinator only passes it on. It
reads the fields that every version starts with: version (int16), number of topics (int32), and each
topic as a string of 16-bit length.
"""

from collections.abc import Iterable
from struct import Struct, error
from typing import Final

CONSUMER: Final = "consumer"
"""The protocol type of consumer groups; Kafka Connect, for one, has its own."""

_VERSION_AND_COUNT: Final = Struct(">hi")
_LENGTH: Final = Struct(">h")


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Return the topics of all members, or None where one of them cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            topics.update(_topics(subscription))
    except (ValueError, error):
        return None
    return frozenset(topics)


def _topics(subscription: bytes) -> Iterable[str]:
    """Yield one member's topics; raise `ValueError` or `struct.error` for what is malformed."""
    version, count = _VERSION_AND_COUNT.unpack_from(subscription)
    if version < 0 or count < 0:
        raise ValueError("negative version or number of topics")
    position = _VERSION_AND_COUNT.size
    # A count that is too large reaches the end of the bytes before it costs anything.
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(subscription, position)
        position += _LENGTH.size
        name = subscription[position : position + length]
        if length < 0 or len(name) < length:
            raise ValueError("a topic's name is cut off")
        yield name.decode()
        position += length
