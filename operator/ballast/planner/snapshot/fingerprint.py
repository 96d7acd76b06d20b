"""What of a cluster decides whether there is a plan: its brokers, and where replicas are.

Sizes, rates and leaders decide how good a plan is, never whether there is one. They change all the
time: a cluster in which nothing else has changed need not be looked at again for a plan that could
not be made.
"""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry


def layout_digest(brokers: Sequence[BrokerEntry], topics: Iterable[TopicEntry]) -> str:
    """Return ``sha256:…`` of the layout; brokers by id and topics by name, each in order."""
    encode = msgspec.json.Encoder().encode
    digest = hashlib.sha256(encode(brokers))
    for topic in topics:
        digest.update(encode((topic.topic, topic.replicas)))
    return f"sha256:{digest.hexdigest()}"
