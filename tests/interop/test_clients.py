"""Foreign clients produce and consume every record, with each compression."""

import asyncio
import itertools
from collections.abc import Callable, Iterator

import aiokafka
import confluent_kafka
import kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.kafka_python_sockets import collect_sockets
from tests.interop.local_cluster import RunningCluster

RECORDS = [f"record {number} ".encode() * 20 for number in range(500)]
COMPRESSIONS = ["none", "gzip", "snappy", "lz4", "zstd"]
TIMEOUT_S = 30

Write = Callable[[str, str, str], None]
Read = Callable[[str, str], list[bytes]]


def write_with_confluent(servers: str, topic: str, compression: str) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": servers, "compression.type": compression, "enable.idempotence": True}
    )
    errors: list[object] = []
    for record in RECORDS:
        producer.produce(topic, record, on_delivery=lambda error, _: errors.append(error))
        producer.poll(0)
    assert producer.flush(TIMEOUT_S) == 0
    assert errors == [None] * len(RECORDS)


def read_with_confluent(servers: str, topic: str) -> list[bytes]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "unused",
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    values = [message.value() for message in consumer.consume(len(RECORDS), TIMEOUT_S)]
    consumer.close()
    return values


def write_with_kafka_python(servers: str, topic: str, compression: str) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=servers,
        acks="all",
        compression_type=None if compression == "none" else compression,
    )
    sent = [producer.send(topic, record) for record in RECORDS]
    assert [future.get(TIMEOUT_S).offset for future in sent] == list(range(len(RECORDS)))
    producer.close()


def read_with_kafka_python(servers: str, topic: str) -> list[bytes]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=servers, group_id=None, consumer_timeout_ms=TIMEOUT_S * 1000
    )
    partition = kafka.TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek_to_beginning(partition)
    values = [message.value for message in itertools.islice(consumer, len(RECORDS))]
    consumer.close()
    return values


def write_with_aiokafka(servers: str, topic: str, compression: str) -> None:
    async def write() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=servers,
            acks="all",
            compression_type=None if compression == "none" else compression,
        )
        async with producer:
            sent = [await producer.send(topic, record) for record in RECORDS]
            answers = await asyncio.wait_for(asyncio.gather(*sent), TIMEOUT_S)
        assert [answer.offset for answer in answers] == list(range(len(RECORDS)))

    asyncio.run(write())


def read_with_aiokafka(servers: str, topic: str) -> list[bytes]:
    async def read() -> list[bytes]:
        consumer = aiokafka.AIOKafkaConsumer(bootstrap_servers=servers, group_id=None)
        partition = aiokafka.TopicPartition(topic, 0)
        consumer.assign([partition])
        async with consumer:
            await consumer.seek_to_beginning(partition)
            async with asyncio.timeout(TIMEOUT_S):
                return [(await consumer.getone()).value for _ in RECORDS]

    return asyncio.run(read())


WRITERS: dict[str, Write] = {
    "confluent": write_with_confluent,
    "kafka-python": write_with_kafka_python,
    "aiokafka": write_with_aiokafka,
}
READERS: dict[str, Read] = {
    "confluent": read_with_confluent,
    "kafka-python": read_with_kafka_python,
    "aiokafka": read_with_aiokafka,
}


@pytest.fixture
def topic(cluster: RunningCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a topic of one partition on three replicas; delete it afterwards."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    created = admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=3)])
    created[name].result(TIMEOUT_S)
    yield name
    admin.delete_topics([name])[name].result(TIMEOUT_S)
    collect_sockets()


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("writer", WRITERS)
def test_every_record_comes_back(
    cluster: RunningCluster, topic: str, writer: str, compression: str
) -> None:
    """What one client wrote, all of them read, in order."""
    WRITERS[writer](cluster.bootstrap_servers, topic, compression)
    for read in READERS.values():
        assert read(cluster.bootstrap_servers, topic) == RECORDS
