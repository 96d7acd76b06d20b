import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from tests.unit.broker.broker_cluster import P0, Cluster, simulate

TOPIC, BROKER = 2, 4
LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"


async def replace(
    cluster: Cluster,
    kind: int,
    name: str,
    values: dict[str, str | None],
    *,
    version: int = 2,
    validate_only: bool = False,
) -> int:
    configs = tuple(AlterableConfig(name=name, value=value) for name, value in values.items())
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    request = AlterConfigsRequest(resources=(resource,), validate_only=validate_only)
    answer = await cluster.ask(1, request, version)
    code: int = answer.responses[0].error_code
    return code


async def started(cluster: Cluster) -> None:
    await cluster.start(1)
    await cluster.lead(P0, 1, [1])
    cluster.create_topic_znode("orders")


@pytest.mark.parametrize("version", range(3))
def test_what_is_not_named_is_taken_away(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        store = await cluster.brokers[1].context.session.wait()
        both: dict[str, str | None] = {LEADER_RATE: "1", FOLLOWER_RATE: "2"}
        assert await replace(cluster, BROKER, "1", both, version=version) == 0
        assert (await store.broker_config(1)).values == both
        assert await replace(cluster, BROKER, "1", {LEADER_RATE: "3"}, version=version) == 0
        assert (await store.broker_config(1)).values == {LEADER_RATE: "3"}
        assert await replace(cluster, TOPIC, "orders", {"retention.ms": "5"}, version=version) == 0
        assert await replace(cluster, TOPIC, "orders", {}, version=version) == 0
        assert (await store.topic_config("orders")).values == {}

    simulate(main)


def test_what_is_refused_changes_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await started(cluster)
        store = await cluster.brokers[1].context.session.wait()
        assert await replace(cluster, BROKER, "1", {LEADER_RATE: "1"}) == 0
        refused: list[tuple[int, str, dict[str, str | None], ErrorCode]] = [
            (BROKER, "1", {"broker.id": "2"}, ErrorCode.INVALID_REQUEST),
            (BROKER, "1", {LEADER_RATE: None}, ErrorCode.INVALID_REQUEST),
            (BROKER, "2", {LEADER_RATE: "1"}, ErrorCode.INVALID_REQUEST),
            (TOPIC, "orders", {"no.such": "1"}, ErrorCode.INVALID_CONFIG),
            (TOPIC, "unknown", {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ]
        for kind, name, values, code in refused:
            assert await replace(cluster, kind, name, values) == code
        assert await replace(cluster, BROKER, "1", {}, validate_only=True) == 0
        assert (await store.broker_config(1)).values == {LEADER_RATE: "1"}

    simulate(main)
