"""A byte that rots: who notices it, who leads then, and how the damaged replica gets its bytes."""

import asyncio

import pytest

from ballast.broker.partitions.read_checks import RECENT_S
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.records import HEADER_SIZE, read_batch_header
from ballast.znodes import log_dir_events
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

FOLDER = "/logs/orders-0"
SEGMENT = f"{FOLDER}/00000000000000000000.log"
REFUSED = ErrorCode.KAFKA_STORAGE_ERROR
BATCH = batch(b"x" * 50)
MAGIC, CHECKSUM, PAYLOAD = 16, 17, HEADER_SIZE + 20


async def rotten(cluster: Cluster, place: int, *replicas: int, batches: int = 3) -> None:
    """Have broker 1 lead some batches, long appended; one byte of the second one is wrong."""
    await cluster.start(*replicas)
    await cluster.lead(P0, 1, replicas)
    for _ in range(batches):
        assert (await cluster.produce(1, P0, BATCH, acks=-1)).error_code == 0
    await asyncio.sleep(10 * RECENT_S)
    cluster.disks[1].rot(SEGMENT, len(BATCH) + place, 4)


def events(cluster: Cluster) -> int:
    return len(cluster.zookeeper.children_of(log_dir_events.PATH))


@pytest.mark.parametrize("place", [0, 3, 8, 12, MAGIC, CHECKSUM, 22, 23, PAYLOAD, len(BATCH) - 1])
def test_what_is_damaged_is_sent_to_nobody_and_told_once(
    place: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, place, 1, 2)
        first = await cluster.fetch(1, P0, 0)
        assert first.records == BATCH[:12] + (0).to_bytes(4, "big") + BATCH[16:]
        for _ in range(3):
            assert (await cluster.fetch(1, P0, 1)).error_code == REFUSED
        assert P0 in cluster.brokers[1].replicas.damaged
        await cluster.until(lambda: events(cluster) == 1)

    simulate(main)
    (told,) = [r for r in caplog.records if "the log is damaged" in r.message]
    assert "orders-0" in told.message


def test_an_in_sync_replica_leads_and_the_damaged_one_is_copied_from_it() -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, PAYLOAD, 1, 2)
        await cluster.fetch(1, P0, 1)
        assert await cluster.lead(P0, 1, [1, 2], to=[1]) == {1: REFUSED}
        assert (await cluster.lead(P0, 2, [1, 2], isr=[2]))[2] == 0
        assert (await cluster.fetch(2, P0, 1)).error_code == 0
        assert cluster.disks[1].holds(f"{FOLDER}/damaged")
        replicas = cluster.brokers[1].replicas
        before = events(cluster)
        await cluster.until(lambda: events(cluster) > before)
        # A controller that handles each event sends the role again and again.
        for _ in range(10):
            await asyncio.sleep(1)
            if (await cluster.lead(P0, 2, [1, 2], isr=[2]))[1] == 0:
                break
        await cluster.until(lambda: replicas.partitions[P0].log.log_end_offset == 3)
        assert (len(replicas.damaged), cluster.disks[1].holds(f"{FOLDER}/damaged")) == (0, False)

    simulate(main)


def test_no_log_goes_while_the_isr_may_still_count_on_it() -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, PAYLOAD, 1, 2)
        await cluster.fetch(1, P0, 1)
        for isr in ([1, 2], [2], [2, 1]):
            assert await cluster.lead(P0, 2, [1, 2], isr=isr, to=[1]) == {1: REFUSED}
        assert read_batch_header(cluster.disks[1].content(SEGMENT)[len(BATCH) :]).base_offset == 1

    simulate(main)


@pytest.mark.parametrize("replicas", [(1,), (1, 2)])
def test_the_last_one_leads_on_and_gives_what_can_be_read(replicas: tuple[int, ...]) -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, PAYLOAD, *replicas)
        await cluster.lead(P0, 1, replicas, isr=[1])
        assert (await cluster.fetch(1, P0, 1)).error_code == REFUSED
        assert await cluster.lead(P0, 1, replicas, isr=[1], to=[1]) == {1: 0}
        for offset in (0, 2):
            assert (await cluster.fetch(1, P0, offset)).error_code == 0
        assert (await cluster.produce(1, P0, BATCH)).error_code == 0
        assert P0 in cluster.brokers[1].replicas.damaged

    simulate(main)


@pytest.mark.parametrize("clean", [True, False])
def test_the_damage_is_known_after_the_next_start_too(clean: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, PAYLOAD, 1, 2)
        await cluster.fetch(1, P0, 1)
        await cluster.stop(1) if clean else cluster.kill(1)
        await cluster.start(1)
        assert P0 in cluster.brokers[1].replicas.damaged
        assert await cluster.lead(P0, 1, [1, 2], to=[1]) == {1: REFUSED}

    simulate(main)


def test_a_log_that_cannot_be_opened_takes_no_other_with_it() -> None:
    async def main(cluster: Cluster) -> None:
        await rotten(cluster, MAGIC, 1, 2)
        await cluster.stop(1)
        await cluster.start(1)
        replicas = cluster.brokers[1].replicas
        assert (P0 in replicas.damaged, replicas.log_dirs.offline_directories) == (True, {})
        assert await cluster.lead(P0, 2, [1, 2], to=[1]) == {1: REFUSED}
        assert (await cluster.fetch(1, P0, 0)).error_code == REFUSED

    simulate(main)
