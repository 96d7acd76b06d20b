import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.unit.broker.broker_cluster import P0, Cluster, simulate

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND = 0, 1, 2
THROTTLED = "leader.replication.throttled.replicas"
RATE = "leader.replication.throttled.rate"


def resource(kind: int, name: str, *changes: tuple[str, int, str | None]) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=tuple(
            AlterableConfig(name=n, config_operation=operation, value=value)
            for n, operation, value in changes
        ),
    )


async def alter(
    cluster: Cluster, *resources: AlterConfigsResource, version: int = 1, validate: bool = False
) -> list[int]:
    request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate)
    answer = await cluster.ask(1, request, version)
    return [response.error_code for response in answer.responses]


async def started(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.lead(P0, 1, [1])
    cluster.create_topic_znode("orders")


@pytest.mark.parametrize("version", [0, 1])
def test_a_throttle_is_set_and_taken_off_again(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        throttle = cluster.brokers[1].replicas.throttles.leader
        on = await alter(
            cluster,
            resource(TOPIC, "orders", (THROTTLED, SET, "0:1")),
            resource(BROKER, "1", (RATE, SET, "1000")),
            version=version,
        )
        assert on == [0, 0]
        # What this broker wrote is in force at once.
        assert throttle.covers(P0)
        assert cluster.brokers[1].context.configs.broker_value(RATE) == 1000
        assert b'"1000"' in (cluster.zookeeper.data("/config/brokers/1") or b"")
        off = await alter(
            cluster,
            resource(TOPIC, "orders", (THROTTLED, DELETE, None)),
            resource(BROKER, "1", (RATE, DELETE, None)),
            resource(BROKER, "", ("replica.alter.log.dirs.io.max.bytes.per.second", DELETE, None)),
        )
        assert off == [0, 0, 0]
        assert not throttle.covers(P0)
        assert len(cluster.zookeeper.children_of("/config/changes")) == 4

    simulate(main)


def test_a_session_that_expires_meanwhile_costs_no_answer() -> None:
    """The values are read and written again in the next session."""

    async def main(cluster: Cluster) -> None:
        await started(cluster)
        before = cluster.loop.now
        cluster.zookeeper.kill_session("broker-1")
        assert await alter(
            cluster,
            resource(TOPIC, "orders", (THROTTLED, APPEND, "0:1")),
            resource(BROKER, "1", (RATE, SET, "1000")),
        ) == [0, 0]
        assert cluster.loop.now - before < 10
        assert b'"0:1"' in (cluster.zookeeper.data("/config/topics/orders") or b"")
        assert b'"1000"' in (cluster.zookeeper.data("/config/brokers/1") or b"")

    simulate(main)


def test_other_brokers_are_notified() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        cluster.create_topic_znode("orders")
        await alter(cluster, resource(TOPIC, "orders", (THROTTLED, APPEND, "0:2")))
        throttle = cluster.brokers[2].replicas.throttles.leader
        await cluster.until(lambda: throttle.covers(P0))

    simulate(main)


def test_validation_alone_writes_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        good = resource(TOPIC, "orders", (THROTTLED, SET, "0:1"))
        bad = resource(BROKER, "1", (RATE, SET, "x"))
        assert await alter(cluster, good, bad, validate=True) == [0, ErrorCode.INVALID_REQUEST]
        assert cluster.zookeeper.data("/config/topics/orders") is None
        assert cluster.zookeeper.children_of("/config/changes") == []

    simulate(main)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (resource(TOPIC, "missing", ("retention.ms", SET, "1")), 3),
        (resource(TOPIC, "../x", ("retention.ms", SET, "1")), 17),
        (resource(TOPIC, "orders", ("retention.ms", SET, "x")), 40),
        (resource(TOPIC, "orders", ("nonsense", SET, "x")), 40),
        (resource(TOPIC, "orders", (THROTTLED, SET, "1,2")), 40),
        (resource(BROKER, "2", (RATE, SET, "1")), 42),
        (resource(BROKER, "1", ("broker.id", SET, "7")), 42),
        (resource(8, "1", ("x", SET, "7")), 42),
    ],
)
def test_a_resource_that_is_refused_does_not_hold_up_the_others(
    bad: AlterConfigsResource, code: int
) -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        good = resource(BROKER, "", (RATE, SET, "5"))
        assert await alter(cluster, bad, good) == [code, 0]

    simulate(main)


def test_a_resource_may_be_named_once() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        twice = resource(BROKER, "1", (RATE, SET, "5"))
        assert await alter(cluster, twice, twice) == [42, 42]

    simulate(main)


def test_without_zookeeper_the_outcome_is_unknown() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        cluster.zookeeper.stop()
        code = await alter(cluster, resource(BROKER, "1", (RATE, SET, "5")))
        assert code == [ErrorCode.REQUEST_TIMED_OUT]

    simulate(main)
