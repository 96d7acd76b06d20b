"""The limits of the client listener."""

import json
import resource

import pytest

from ballast.broker.config.config import BrokerConfig
from ballast.broker.config.dynamic_configs import DynamicConfigs
from ballast.broker.config.server_limits import limits_of
from ballast.model.settings.keys import ConfigError
from tests.unit.broker.broker_cluster import Cluster, simulate

GIVEN = {"broker.id": "1", "log.dirs": "/logs", "zookeeper.connect": "zookeeper:2181"}


def configs(given: dict[str, str]) -> DynamicConfigs:
    return DynamicConfigs(BrokerConfig.from_properties({**GIVEN, **given})[0])


def test_limits_are_what_is_configured() -> None:
    limits = limits_of(
        configs(
            {
                "socket.request.max.bytes": "1100000",
                "connections.max.idle.ms": "5000",
                "max.connections": "70",
                "max.connections.per.ip": "7",
                "max.connections.per.ip.overrides": "10.0.0.1:2, [::1]:3",
                "max.connection.creation.rate": "9",
                "queued.max.request.bytes": "1200000",
            }
        )
    )
    assert limits.request_max_bytes == 1_100_000
    assert limits.connections_max_idle_s == 5.0
    assert (limits.max_connections, limits.max_connections_per_ip) == (70, 7)
    assert limits.max_connections_of == {"10.0.0.1": 2, "::1": 3}
    assert limits.connections_per_s == 9
    assert limits.queued_request_bytes == 1_200_000
    assert limits_of(configs({})).queued_request_bytes == 0


def test_what_is_set_nearest_holds() -> None:
    found = configs({"max.connections": "70", "max.connections.per.ip": "7"})
    found.set_default({"max.connections": "60", "max.connections.per.ip.overrides": "10.0.0.1:1"})
    found.set_broker({"max.connections": "50", "max.connection.creation.rate": "3"})
    limits = limits_of(found)
    assert (limits.max_connections, limits.max_connections_per_ip) == (50, 7)
    assert limits.max_connections_of == {"10.0.0.1": 1}
    assert limits.connections_per_s == 3


@pytest.mark.parametrize(
    "given",
    [
        {"queued.max.request.bytes": "1000"},
        {"max.connections.per.ip": "0"},
        {"max.connections.per.ip.overrides": "localhost:1"},
        {"max.connections.per.ip.overrides": "10.0.0.1"},
        {"max.connections.per.ip.overrides": "::1:1,0:0::1:2"},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        configs(given)


@pytest.mark.parametrize("entity", ["1", "<default>"])
def test_limits_that_are_set_while_the_broker_runs_are_in_force(entity: str) -> None:
    async def main(cluster: Cluster) -> None:
        values = {"version": 1, "config": {"max.connections": "11"}}
        cluster.zookeeper.put(f"/config/brokers/{entity}", json.dumps(values).encode())
        await cluster.start(1)
        broker = cluster.brokers[1]
        assert broker.server.limits.max_connections == 11
        store = await broker.context.session.wait()
        broker_id = None if entity == "<default>" else 1
        await store.write_broker_config(broker_id, {"max.connections": "12"}, 0)
        await cluster.until(lambda: broker.server.limits.max_connections == 12)
        await store.write_broker_config(broker_id, {}, 1)
        await cluster.until(lambda: broker.server.limits.max_connections == 13)

    simulate(main, max_connections="13")


def test_a_part_of_the_descriptors_is_kept_from_clients() -> None:
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = limits_of(configs({})).max_descriptor
    assert most is not None
    assert 0 < most < descriptors
