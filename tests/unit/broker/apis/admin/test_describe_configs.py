import pytest

from ballast.broker.config.dynamic_configs import ConfigSource
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from tests.unit.broker.broker_cluster import P0, Cluster, simulate

TOPIC, BROKER = 2, 4


async def describe(
    cluster: Cluster,
    kind: int,
    name: str,
    keys: tuple[str, ...] | None = None,
    *,
    version: int = 4,
) -> DescribeConfigsResult:
    request = DescribeConfigsRequest(
        resources=(
            DescribeConfigsResource(
                resource_type=kind, resource_name=name, configuration_keys=keys
            ),
        ),
        include_synonyms=version >= 1,
        include_documentation=version >= 3,
    )
    result = (await cluster.ask(1, request, version)).results[0]
    assert isinstance(result, DescribeConfigsResult)
    return result


def named(result: DescribeConfigsResult, name: str) -> DescribeConfigsResourceResult:
    return next(config for config in result.configs if config.name == name)


@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"retention.ms":"5"}}')
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        result = await describe(cluster, TOPIC, "orders", version=version)
        retention, segment = named(result, "retention.ms"), named(result, "segment.bytes")
        assert (retention.value, segment.value) == ("5", "100000")
        if version == 0:
            assert (retention.is_default, segment.is_default) == (False, False)
        else:
            assert retention.config_source == ConfigSource.DYNAMIC_TOPIC_CONFIG
            assert segment.config_source == ConfigSource.STATIC_BROKER_CONFIG
            assert [s.name for s in segment.synonyms] == ["log.segment.bytes"] * 2
        if version >= 3:
            assert retention.config_type == 5

    simulate(main, log_segment_bytes="100000")


def test_a_time_is_told_in_its_own_unit_wherever_it_is_set() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        retention = named(await describe(cluster, TOPIC, "orders"), "retention.ms")
        assert retention.value == "7200000"
        assert [(s.name, s.value) for s in retention.synonyms] == [
            ("log.retention.hours", "2"),
            ("log.retention.hours", "168"),
        ]

    simulate(main, log_retention_hours="2")


def test_a_brokers_own_configs() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/brokers/1", b'{"config":{"min.insync.replicas":"3"}}')
        await cluster.start(1)
        result = await describe(cluster, BROKER, "1")
        minimum = named(result, "min.insync.replicas")
        assert (minimum.value, minimum.read_only) == ("3", False)
        assert minimum.config_source == ConfigSource.DYNAMIC_BROKER_CONFIG
        broker_id = named(result, "broker.id")
        assert (broker_id.value, broker_id.read_only) == ("1", True)
        assert broker_id.documentation == "The broker's id, unique in its cluster; required."
        rack = named(result, "broker.rack")
        assert (rack.value, rack.config_source) == (None, ConfigSource.DEFAULT_CONFIG)

    simulate(main)


def test_the_defaults_of_all_brokers() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put(
            "/config/brokers/<default>", b'{"config":{"min.insync.replicas":"3"}}'
        )
        await cluster.start(1)
        result = await describe(cluster, BROKER, "")
        assert [(c.name, c.value) for c in result.configs] == [("min.insync.replicas", "3")]

    simulate(main)


def test_only_the_keys_asked_for() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        result = await describe(cluster, TOPIC, "orders", ("retention.ms", "nonsense"))
        assert [config.name for config in result.configs] == ["retention.ms"]

    simulate(main)


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        (TOPIC, "missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TOPIC, "../x", ErrorCode.INVALID_TOPIC_EXCEPTION),
        (BROKER, "2", ErrorCode.INVALID_REQUEST),
        (BROKER, "x", ErrorCode.INVALID_REQUEST),
        (8, "1", ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_refused(kind: int, name: str, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        result = await describe(cluster, kind, name)
        assert (result.error_code, result.configs) == (code, ())

    simulate(main)


def test_without_zookeeper_topics_are_not_described() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.zookeeper.stop()
        result = await describe(cluster, TOPIC, "orders")
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT

    simulate(main)
