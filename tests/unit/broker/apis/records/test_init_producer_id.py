import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.init_producer_id import InitProducerIdRequest
from tests.unit.broker.broker_cluster import Cluster, simulate


@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        first = await cluster.ask(1, InitProducerIdRequest(), version)
        second = await cluster.ask(1, InitProducerIdRequest(), version)
        assert (first.error_code, first.producer_epoch) == (0, 0)
        assert second.producer_id == first.producer_id + 1

    simulate(main)


def test_transactions_are_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, InitProducerIdRequest(transactional_id="x"), 4)
        assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert answer.producer_id == -1

    simulate(main)


def test_without_zookeeper_the_client_tries_again() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.stop()
        answer = await cluster.ask(1, InitProducerIdRequest(), 4)
        assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE

    simulate(main)
