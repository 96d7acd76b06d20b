"""/config/<type>/<name>, persistent: the config overrides of topics, brokers, clients and users.

``{"version":1,"config":{"retention.ms":"600000"}}``; every value is a string. Removing the last
override leaves an empty config behind, not a missing znode.
"""

from collections.abc import Mapping

import msgspec

from ballast.model.topics import check_topic_name
from ballast.znodes import documents
from ballast.znodes.errors import ZnodeError

PATH = "/config"
DEFAULT_BROKER = "<default>"
"""The entity that stands for all brokers."""


class _Document(msgspec.Struct):
    config: dict[str, str]


def topic_entity(topic: str) -> str:
    """Return the entity path of a topic; raises `InvalidTopicName`."""
    check_topic_name(topic)
    return f"topics/{topic}"


def broker_entity(broker_id: int | None) -> str:
    """Return the entity path of a broker, or of the default of all brokers."""
    return f"brokers/{DEFAULT_BROKER if broker_id is None else broker_id}"


def path(entity: str) -> str:
    """Return the path of an entity's config."""
    return f"{PATH}/{entity}"


def encode(config: Mapping[str, str]) -> bytes:
    """Return the data of an entity's config."""
    return documents.write({"version": 1, "config": dict(config)})


def decode(entity: str, data: bytes) -> dict[str, str]:
    """Return an entity's config; raises `ZnodeError`."""
    if not data:
        return {}
    config = documents.read(path(entity), data, _Document).config
    if "" in config:
        raise ZnodeError(path(entity), "config", "a name is empty")
    return config
