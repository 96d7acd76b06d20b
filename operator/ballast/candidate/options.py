"""The options of a controller candidate, and how they follow from its configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ballast.controller.state.options import ControllerOptions
from ballast.model.settings.controller_config import ControllerConfig
from ballast.net.controller_channels import ControllerChannelOptions
from ballast.net.server.limits import ServerLimits
from ballast.znodes.owner import Owner

__all__ = [
    "CandidateOptions",
    "ControllerChannelOptions",
    "ControllerOptions",
    "ServerLimits",
    "channel_options",
]
"""A candidate is built from these; its owner need not know in which package each is declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOptions:
    """Limits and pauses of one candidate; times in seconds."""

    advertised: tuple[str, int] | None = None
    """Host and port that the znode /controller has for brokers; None = the listening address, and
    port 0 = the listening port."""
    further_ports: Sequence[int] = ()
    """Ports that the endpoint tries in order if its own is in use."""
    max_queued: int = 50_000
    """Maximum of queued events and requests; with more events the controller resigns."""
    max_waiting: int = 1_000
    """Maximum of requests that wait for brokers to apply a change, such as CreateTopics."""
    retry_s: float = 1.0
    """Pause after a failed session or leadership; it doubles with each unexpected failure up to
    `max_retry_s`."""
    max_retry_s: float = 60.0
    stable_s: float = 60.0
    """A leadership that lasts as long resets the pause to `retry_s`."""
    owner: Owner | None = None
    """The required owner of the path in ZooKeeper, if the path has an owner."""
    resign_timeout_s: float = 10.0
    controller: ControllerOptions = field(default_factory=ControllerOptions)
    channels: ControllerChannelOptions = field(default_factory=ControllerChannelOptions)
    server: ServerLimits = field(default_factory=ServerLimits)


def channel_options(config: ControllerConfig) -> ControllerChannelOptions:
    """Return the options of the channels to brokers that a configuration gives."""
    return ControllerChannelOptions(
        request_timeout_s=config.controller_socket_timeout_ms / 1000,
        connect_timeout_s=config.connection_setup_timeout_ms / 1000,
        connect_timeout_max_s=config.connection_setup_timeout_max_ms / 1000,
    )
