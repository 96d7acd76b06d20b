import pytest

from ballast.protocol.messages.control.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from tests.unit.broker.broker_cluster import Cluster, simulate


def test_the_broker_asks_until_nothing_is_led() -> None:
    remaining = [(RemainingPartition(topic_name="t", partition_index=0),), ()]

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        epoch = cluster.brokers[1].context.identity.broker_epoch
        await cluster.elect(
            lambda _request, _version: ControlledShutdownResponse(
                remaining_partitions=remaining.pop(0)
            )
        )
        await cluster.stop(1)
        request = ControlledShutdownRequest(broker_id=1, broker_epoch=epoch)
        assert cluster.forwarded == [(request, 3), (request, 3)]

    simulate(main, controlled_shutdown_max_retries="3")


@pytest.mark.parametrize(
    "answer",
    [
        ControlledShutdownResponse(error_code=77),
        ControlledShutdownResponse(
            remaining_partitions=(RemainingPartition(topic_name="t", partition_index=0),)
        ),
    ],
)
def test_a_broker_that_may_not_go_goes_after_its_retries(
    answer: ControlledShutdownResponse,
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: answer)
        began = cluster.loop.now
        await cluster.stop(1)
        assert len(cluster.forwarded) == 3
        assert cluster.loop.now - began >= 10
        assert cluster.zookeeper.data("/brokers/ids/1") is None

    simulate(main, controlled_shutdown_max_retries="3")


def test_it_ends_in_time_for_the_logs_to_be_closed() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: ControlledShutdownResponse(error_code=77))
        began = cluster.loop.now
        await cluster.stop(1)
        assert len(cluster.forwarded) == 2
        assert cluster.loop.now - began < 12
        assert cluster.zookeeper.data("/brokers/ids/1") is None

    simulate(
        main,
        controlled_shutdown_max_retries="9",
        ballast_controlled_shutdown_timeout_ms="8000",
    )


def test_it_can_be_switched_off() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.elect(lambda _request, _version: ControlledShutdownResponse())
        await cluster.stop(1)
        assert cluster.forwarded == []

    simulate(main, controlled_shutdown_enable="false")
