"""The part of a cluster that decides whether a plan exists: its brokers and its replicas.

Sizes, rates and leaders decide how good a plan is, but never whether there is one. They change all
the time. A cluster with the same fingerprint needs no second attempt at an infeasible plan.

"""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry


def layout_digest(brokers: Sequence[BrokerEntry], topics: Iterable[TopicEntry]) -> str:
    """Return ``sha256:…`` of the layout: brokers by id and topics by name, each in order."""
    encode = msgspec.json.Encoder().encode
    digest = hashlib.sha256(encode(brokers))
    for topic in topics:
        digest.update(encode((topic.topic, topic.replicas)))
    return f"sha256:{digest.hexdigest()}"
