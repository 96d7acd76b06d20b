"""All rows, by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ballast.model.settings import (
    cleaner,
    controller,
    groups,
    load,
    logs,
    quotas,
    replication,
    security,
    sockets,
    topics,
    zookeeper,
)
from ballast.model.settings.keys import ConfigKey

BROKER_SETTINGS: Final[Mapping[str, ConfigKey]] = MappingProxyType(
    {
        row.name: row
        for module in (
            zookeeper,
            sockets,
            security,
            logs,
            cleaner,
            replication,
            groups,
            controller,
            quotas,
            load,
        )
        for row in module.ROWS
    }
)
"""Every property of a broker that Kafka 2.8 or Ballast knows."""

CANDIDATE_SETTINGS: Final[Mapping[str, ConfigKey]] = MappingProxyType(
    {row.name: row for row in controller.CANDIDATE_ROWS}
)
"""The properties of a controller candidate that a broker does not have."""

TOPIC_SETTINGS: Final[Mapping[str, ConfigKey]] = MappingProxyType(
    {row.name: row for row in topics.ROWS}
)
"""Every property that a topic may override."""
