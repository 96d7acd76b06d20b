"""The limits of the client listener."""

import resource

from ballast.broker.config import BrokerConfig
from ballast.broker.server_limits import limits_of

GIVEN = {"broker.id": "1", "log.dirs": "/logs", "zookeeper.connect": "zookeeper:2181"}


def test_limits_are_what_is_configured() -> None:
    given = {
        "socket.request.max.bytes": "1100000",
        "connections.max.idle.ms": "5000",
        "max.connections": "70",
        "max.connections.per.ip": "7",
    }
    limits = limits_of(BrokerConfig.from_properties({**GIVEN, **given})[0])
    assert limits.request_max_bytes == 1_100_000
    assert limits.connections_max_idle_s == 5.0
    assert (limits.max_connections, limits.max_connections_per_ip) == (70, 7)


def test_a_part_of_the_descriptors_is_kept_from_clients() -> None:
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = limits_of(BrokerConfig.from_properties(GIVEN)[0]).max_descriptor
    assert most is not None
    assert 0 < most < descriptors
