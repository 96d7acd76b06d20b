"""The limits of a broker's client listener, from the configuration in force."""

import resource
from typing import Final

from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.net.server.limits import ServerLimits
from ballast.net.server.server import Server

_MAX_CONNECTIONS: Final = "max.connections"
_MAX_PER_IP: Final = "max.connections.per.ip"
_OVERRIDES: Final = "max.connections.per.ip.overrides"
_RATE: Final = "max.connection.creation.rate"


def limits_of(configs: DynamicConfigs) -> ServerLimits:
    """Return the limits of the client listener; those of connections may change while it runs.

    Clients get three quarters of the process's file descriptors; the rest is for the files of logs.
    """
    config = configs.static
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ServerLimits(
        request_max_bytes=config.socket_request_max_bytes,
        connections_max_idle_s=config.connections_max_idle_ms / 1000,
        max_connections=configs.broker_value(_MAX_CONNECTIONS),
        max_connections_per_ip=configs.broker_value(_MAX_PER_IP),
        max_connections_of=dict(configs.broker_value(_OVERRIDES)),
        connections_per_s=configs.broker_value(_RATE),
        queued_request_bytes=max(0, config.queued_max_request_bytes),
        max_descriptor=None if descriptors == resource.RLIM_INFINITY else descriptors * 3 // 4,
        min_receive_rate=config.min_receive_rate,
        write_stall_timeout_s=config.write_stall_timeout_ms / 1000,
    )


def limit(server: Server, configs: DynamicConfigs) -> None:
    """Apply the limits in force to new connections."""
    server.limits = limits_of(configs)
