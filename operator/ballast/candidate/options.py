"""The options of a controller candidate, and how they follow from its configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ballast.controller.state.options import ControllerConfig, ControllerOptions
from ballast.net.controller_channels import ControllerChannelOptions
from ballast.net.server.limits import ServerLimits
from ballast.znodes.owner import Owner

__all__ = [
    "CandidateOptions",
    "ControllerChannelOptions",
    "ControllerConfig",
    "ControllerOptions",
    "ServerLimits",
    "channel_options",
]
"""A candidate is built from these; its owner need not know in which package each is declared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateOptions:
    """Bounds and pauses of one candidate; times in seconds."""

    advertised: tuple[str, int] | None = None
    """Host and port that /controller tells brokers; None = where the endpoint listens, and port 0 =
    the port on which it listens."""
    further_ports: Sequence[int] = ()
    """Where the endpoint listens if its port is taken, tried in turn."""
    max_queued: int = 50_000
    """Events and requests that wait; more events, and the controller resigns."""
    max_waiting: int = 1_000
    """Requests that wait for brokers to follow (CreateTopics and the like)."""
    retry_s: float = 1.0
    """Pause after a session or a leadership that failed; doubles from one failure to the next that
    nobody expected, up to `max_retry_s`."""
    max_retry_s: float = 60.0
    stable_s: float = 60.0
    """A leadership as long as this has not failed again and again."""
    owner: Owner | None = None
    """To whom the path in ZooKeeper has to belong, if it belongs to anybody."""
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
