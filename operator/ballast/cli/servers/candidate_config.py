"""A controller candidate's configuration, in Kafka's names where Kafka has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.settings.fields import parse_settings, rows_of, setting

_UNKNOWN: Final = "It is not a property of a controller."


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateConfig(ControllerConfig):
    """The properties of one candidate, parsed. Times are milliseconds."""

    controller_id: int = setting("controller.id")
    listener: tuple[str, int] = setting("controller.listener")
    advertised_listener: tuple[str, int] | None = setting("controller.advertised.listener")
    zookeeper_connect: str = setting("zookeeper.connect")
    zookeeper_session_timeout_ms: int = setting("zookeeper.session.timeout.ms")
    http_listener: tuple[str, int] | None = setting("ballast.http.listener")

    @classmethod
    def from_properties(
        cls, properties: Mapping[str, str]
    ) -> "tuple[CandidateConfig, Mapping[str, str]]":
        """Return the configuration, and the properties without effect, each with the reason.

        Raises `ConfigError`.
        """
        config = cls(**parse_settings(cls, properties))
        names = {row.name for row in rows_of(cls).values()}
        return config, dict.fromkeys(sorted(properties.keys() - names), _UNKNOWN)
