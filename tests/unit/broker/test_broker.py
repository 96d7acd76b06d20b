"""Whole brokers under the simulated loop, with a controller moved by hand."""

import asyncio

import pytest

from ballast.broker.broker import Broker
from ballast.broker.errors import StartupRefused
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from ballast.storage.errors import LogFailed
from ballast.zk.errors import ZooKeeperError
from tests.unit.broker.broker_cluster import P0, PORT, Cluster, batch, simulate


def test_one_broker_takes_and_gives_back_records() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        assert await cluster.lead(P0, 1, [1]) == {1: ErrorCode.NONE}
        first = await cluster.produce(1, P0, batch(b"a", b"b"))
        second = await cluster.produce(1, P0, batch(b"c"), acks=-1)
        assert (first.error_code, first.base_offset) == (0, 0)
        assert (second.error_code, second.base_offset) == (0, 2)
        data = await cluster.fetch(1, P0, 0)
        assert data.high_watermark == 3
        assert data.records is not None
        assert len(data.records) == len(batch(b"a", b"b")) + len(batch(b"c"))

    simulate(main)


def test_acks_all_waits_for_the_followers() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2, 3)
        await cluster.lead(P0, 1, [1, 2, 3])
        answer = await cluster.produce(1, P0, batch(b"a"), acks=-1)
        assert (answer.error_code, answer.base_offset) == (0, 0)
        for follower in (2, 3):
            log = cluster.brokers[follower].replicas.partitions[P0].log
            assert log.log_end_offset == 1

    simulate(main)


@pytest.mark.parametrize("clean", [True, False])
def test_records_and_duplicates_survive_a_restart(clean: bool) -> None:
    idempotent = batch(b"a", b"b", producer_id=7, producer_epoch=0, base_sequence=0)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, idempotent)
        await cluster.produce(1, P0, batch(b"c"))
        if clean:
            await cluster.stop(1)
        else:
            cluster.kill(1)
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        again = await cluster.produce(1, P0, idempotent)
        assert (again.error_code, again.base_offset) == (0, 0)
        following = batch(b"d", producer_id=7, producer_epoch=0, base_sequence=2)
        assert (await cluster.produce(1, P0, following)).base_offset == 3
        gap = batch(b"e", producer_id=7, producer_epoch=0, base_sequence=9)
        assert (await cluster.produce(1, P0, gap)).error_code == 45
        assert cluster.brokers[1].replicas.partitions[P0].log.log_end_offset == 4

    simulate(main)


def test_duplicates_are_known_to_the_next_leader() -> None:
    idempotent = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=0)

    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"x"), acks=-1)
        await cluster.produce(1, P0, idempotent, acks=-1)
        await cluster.lead(P0, 2, [1, 2])
        again = await cluster.produce(2, P0, idempotent, acks=-1)
        assert (again.error_code, again.base_offset) == (0, 1)

    simulate(main)


def test_an_expired_session_gives_a_new_epoch_and_fences_the_old_one() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        identity = cluster.brokers[1].context.identity
        before = identity.broker_epoch
        cluster.zookeeper.kill_session("broker-1")
        await cluster.until(lambda: not identity.is_registered)
        await cluster.until(lambda: identity.is_registered)
        assert identity.broker_epoch > before
        stale = cluster.leader_and_isr(1, P0, broker_epoch=before)
        answer = await cluster.ask(1, stale, 5)
        assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
        assert (await cluster.produce(1, P0, batch(b"a"))).error_code == 0

    simulate(main)


def test_a_leader_serves_whatever_becomes_of_its_session() -> None:
    """No other leader can be elected: the leader is the only member of the ISR."""

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        identity = cluster.brokers[1].context.identity
        cluster.zookeeper.kill_session("broker-1")
        await cluster.until(lambda: not identity.is_registered)
        assert (await cluster.produce(1, P0, batch(b"a"), acks=-1)).base_offset == 0
        await cluster.until(lambda: identity.is_registered)
        cluster.zookeeper.stop()
        await asyncio.sleep(600)
        assert (await cluster.produce(1, P0, batch(b"b"), acks=-1)).base_offset == 1
        assert (await cluster.fetch(1, P0, 0)).high_watermark == 2
        cluster.zookeeper.start()

    simulate(main)


def test_nobody_is_let_in_before_the_broker_is_registered() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        cluster.kill(1)
        restarted = asyncio.ensure_future(cluster.start(1))  # noqa: TID251  beside the test
        await asyncio.sleep(2)
        assert not cluster.loop.network.is_listening("broker-1", PORT)
        await restarted
        assert cluster.loop.network.is_listening("broker-1", PORT)

    simulate(main)


def test_a_broker_id_that_is_in_use_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        second = Broker(
            cluster.config(1),
            client_factory=cluster.zookeeper.factory("elsewhere"),
            files=cluster.disks.setdefault(9, type(cluster.disks[1])(cluster.loop.random)),
            random=cluster.loop.random,
            wall_clock_ms=lambda: 0,
        )
        with pytest.raises(StartupRefused, match="in use"):
            await second.start()

    simulate(main)


def test_a_disk_of_another_broker_is_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.stop(1)
        cluster.disks[2] = cluster.disks[1]
        with pytest.raises(StartupRefused, match="belongs to broker 1"):
            await cluster.start(2)

    simulate(main)


def test_without_zookeeper_a_broker_does_not_start() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.stop()
        with pytest.raises(ZooKeeperError):
            await cluster.start(1)

    simulate(main)


async def ask(cluster: Cluster, path: bytes) -> bytes:
    """Return status and body of broker 1's answer over HTTP."""
    reader = asyncio.StreamReader(loop=cluster.loop)
    transport, _ = await cluster.loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader, loop=cluster.loop), "broker-1", 8080
    )
    transport.write(b"GET " + path + b" HTTP/1.1\r\n\r\n")
    answer = await reader.read()
    return answer.split(b" ")[1] + b" " + answer.rpartition(b"\r\n")[2]


def test_health_is_told_before_zookeeper_answers() -> None:
    """A probe learns why the broker is not ready; the broker is not restarted for it."""

    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.stop()
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(cluster.start(1))
            await asyncio.sleep(5)
            assert await ask(cluster, b"/healthz") == b"200 ok\n"
            assert await ask(cluster, b"/readyz") == b"503 not registered with ZooKeeper\n"
            cluster.zookeeper.start()
            await starting
        assert await ask(cluster, b"/readyz") == b"200 ok\n"
        assert await ask(cluster, b"/certainz") == b"200 ok\n"

    simulate(main, ballast_http_listener="broker-1:8080", zookeeper_connection_timeout_ms="600000")


def test_a_broker_without_zookeeper_is_ready_but_not_certain() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        cluster.zookeeper.stop()
        await asyncio.sleep(600)
        assert await ask(cluster, b"/readyz") == b"200 ok\n"
        assert await ask(cluster, b"/certainz") == b"503 ZooKeeper does not answer\n"
        cluster.zookeeper.start()
        registration = cluster.brokers[1].components.registration
        await cluster.until(registration.is_certain)
        registry = cluster.brokers[1].context.metrics.registry
        assert registry.get_sample_value("ballast_broker_registration_certain") == 1
        cluster.zookeeper.kill_session("broker-1")
        await cluster.until(lambda: not cluster.brokers[1].context.identity.is_registered)
        assert await ask(cluster, b"/readyz") == b"200 ok\n"

    simulate(main, ballast_http_listener="broker-1:8080")


def test_a_disk_that_takes_no_writes_ends_the_broker() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        broker = cluster.brokers[1]
        log = broker.replicas.partitions[P0].log
        log.failure = LogFailed("the disk is gone")
        answer = await cluster.produce(1, P0, batch(b"a"))
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        with pytest.raises(LogFailed):
            await broker.wait_closed()
        assert broker.failed.is_set()

    simulate(main)


def test_a_stopped_broker_has_unregistered_and_ends() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        broker = cluster.brokers[1]
        await cluster.stop(1)
        await broker.wait_closed()
        assert cluster.zookeeper.data("/brokers/ids/1") is None
        assert cluster.disks[1].exists("/logs/.kafka_cleanshutdown")

    simulate(main)


def test_many_partitions_are_led_at_once() -> None:
    names = [TopicPartition("many", number) for number in range(20)]

    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        for name in names:
            await cluster.lead(name, 1 + name.partition % 2, [1, 2])
        answers = await asyncio.gather(
            *(cluster.produce(1 + n.partition % 2, n, batch(b"a"), acks=-1) for n in names)
        )
        assert {answer.error_code for answer in answers} == {0}

    simulate(main)
