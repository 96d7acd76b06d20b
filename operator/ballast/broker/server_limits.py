"""What a broker's listener takes from clients, by the broker's configuration."""

from ballast.broker.config import BrokerConfig
from ballast.net.limits import ServerLimits


def limits_of(config: BrokerConfig) -> ServerLimits:
    """Return the limits of the client listener."""
    return ServerLimits(
        request_max_bytes=config.socket_request_max_bytes,
        connections_max_idle_s=config.connections_max_idle_ms / 1000,
        max_connections=config.max_connections,
        max_connections_per_ip=config.max_connections_per_ip,
        min_receive_rate=config.min_receive_rate,
        write_stall_timeout_s=config.write_stall_timeout_ms / 1000,
    )
