import pytest

from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ballast.protocol.records import CONTROL_BIT, TRANSACTIONAL_BIT
from tests.unit.broker.broker_cluster import P0, PORT, Cluster, batch, simulate

ZSTD = 4


@pytest.mark.parametrize("version", range(10))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for acks in (1, -1):
            answer = await cluster.produce(1, P0, batch(b"a"), acks=acks, version=version)
            assert answer.error_code == 0
        assert answer.base_offset == 1

    simulate(main)


def corrupt(position: int) -> bytes:
    bad = bytearray(batch(b"abc"))
    bad[position] ^= 0xFF
    return bytes(bad)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (b"\0" * 10, ErrorCode.CORRUPT_MESSAGE),
        (corrupt(20), ErrorCode.CORRUPT_MESSAGE),
        (corrupt(66), ErrorCode.CORRUPT_MESSAGE),
        (batch(b"abc")[:-1], ErrorCode.CORRUPT_MESSAGE),
        (batch(b"abc")[:16] + b"\1" + batch(b"abc")[17:], ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (batch(bytes(2_000_000)), ErrorCode.MESSAGE_TOO_LARGE),
        (batch(b"a", attributes=CONTROL_BIT), ErrorCode.INVALID_RECORD),
        (
            batch(
                b"a",
                attributes=TRANSACTIONAL_BIT,
                producer_id=1,
                producer_epoch=0,
                base_sequence=0,
            ),
            ErrorCode.INVALID_RECORD,
        ),
    ],
)
def test_bad_records_leave_the_log_as_it_was(records: bytes | None, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"first"))
        before = cluster.disks[1].content("/logs/orders-0/00000000000000000000.log")
        answer = await cluster.produce(1, P0, records, acks=-1)
        assert answer.error_code == code
        assert answer.base_offset == -1
        after = cluster.disks[1].content("/logs/orders-0/00000000000000000000.log")
        assert after == before

    simulate(main)


@pytest.mark.parametrize(("version", "code"), [(6, 76), (7, 0), (9, 0)])
def test_zstd_needs_version_7(version: int, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        records = batch(b"a", attributes=ZSTD, compressed=b"not looked at")
        assert (await cluster.produce(1, P0, records, version=version)).error_code == code

    simulate(main)


def request(acks: int, records: bytes, **fields: str) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=(
            TopicProduceData(
                name="orders", partition_data=(PartitionProduceData(index=0, records=records),)
            ),
        ),
        **fields,
    )


def test_transactions_and_other_acks_are_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        for message, code in (
            (request(1, batch(b"a"), transactional_id="x"), 53),
            (request(2, batch(b"a")), ErrorCode.INVALID_REQUIRED_ACKS),
            (request(-2, batch(b"a")), ErrorCode.INVALID_REQUIRED_ACKS),
        ):
            answer = await cluster.ask(1, message, 9)
            assert answer.responses[0].partition_responses[0].error_code == code

    simulate(main)


@pytest.mark.parametrize(
    ("client_id", "code"),
    [("ballast", ErrorCode.INVALID_TOPIC_EXCEPTION), ("__admin_client", 0)],
)
def test_only_brokers_and_kafkas_tools_write_internal_topics(client_id: str, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        name = TopicPartition("__consumer_offsets", 0)
        await cluster.lead(name, 1, [1])
        options = ChannelOptions(client_id=client_id)
        channel = BrokerChannel("broker-1", PORT, options)
        asked = ProduceRequest(
            acks=1,
            timeout_ms=1000,
            topic_data=(
                TopicProduceData(
                    name=name.topic,
                    partition_data=(PartitionProduceData(index=0, records=batch(b"a")),),
                ),
            ),
        )
        answer = await channel.request(asked, 9)
        assert answer.responses[0].partition_responses[0].error_code == code
        await channel.close()

    simulate(main)


def test_acks_0_has_no_answer_and_a_failure_closes_the_connection() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        log = cluster.brokers[1].replicas.partitions[P0].log
        await cluster.send(1, request(0, batch(b"a")), 9)
        await cluster.until(lambda: log.log_end_offset == 1)
        await cluster.send(1, request(0, corrupt(66)), 9, until_closed=True)
        assert log.log_end_offset == 1

    simulate(main)
