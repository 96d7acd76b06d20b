"""What a broker's listener takes from clients, by the broker's configuration."""

import resource

from ballast.broker.config import BrokerConfig
from ballast.net.limits import ServerLimits


def limits_of(config: BrokerConfig) -> ServerLimits:
    """Return the limits of the client listener.

    A quarter of the descriptors that the process may have is kept from clients: a log without one
    could not be appended to.
    """
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ServerLimits(
        request_max_bytes=config.socket_request_max_bytes,
        connections_max_idle_s=config.connections_max_idle_ms / 1000,
        max_connections=config.max_connections,
        max_connections_per_ip=config.max_connections_per_ip,
        max_descriptor=None if descriptors == resource.RLIM_INFINITY else descriptors * 3 // 4,
        min_receive_rate=config.min_receive_rate,
        write_stall_timeout_s=config.write_stall_timeout_ms / 1000,
    )
