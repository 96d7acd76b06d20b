"""A controller candidate's configuration, in Kafka's names where Kafka has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ballast.broker.config.controller_config import ControllerSettings
from ballast.broker.config.properties import parse_settings, properties_of, setting

_UNKNOWN: Final = "It is not a property of a controller."


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerConfig(ControllerSettings):
    """The properties of one candidate, parsed. Times are milliseconds."""

    controller_id: int = setting("controller.id")
    listener: tuple[str, int] = setting("controller.listener")
    advertised_listener: tuple[str, int] | None = setting(
        "controller.advertised.listener", optional=True
    )
    zookeeper_connect: str = setting("zookeeper.connect")
    zookeeper_session_timeout_ms: int = setting("zookeeper.session.timeout.ms")
    http_listener: tuple[str, int] | None = setting("ballast.http.listener", optional=True)

    @classmethod
    def from_properties(
        cls, properties: Mapping[str, str]
    ) -> "tuple[ControllerConfig, Mapping[str, str]]":
        """Return the configuration, and why which of the properties have no effect.

        Raises `ConfigError`.
        """
        values = parse_settings(cls, properties)
        known = {row.name for row in properties_of(cls).values()}
        unknown = dict.fromkeys(sorted(set(properties) - known), _UNKNOWN)
        return cls(**values), unknown
