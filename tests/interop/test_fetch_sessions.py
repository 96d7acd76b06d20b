"""A foreign consumer keeps a fetch session over many partitions, and misses nothing in it."""

import random

import confluent_kafka
import kafka
from confluent_kafka.admin import AdminClient, NewTopic

from tests.interop.local_cluster import RunningCluster

PARTITIONS = 30
ROUNDS = 60
TIMEOUT_S = 30
TOPIC = "fetch-sessions"


def test_kafka_python_reads_all_of_many_partitions_through_sessions(
    cluster: RunningCluster,
) -> None:
    servers = cluster.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": servers})
    created = admin.create_topics([NewTopic(TOPIC, PARTITIONS, replication_factor=3)])
    created[TOPIC].result(TIMEOUT_S)
    producer = confluent_kafka.Producer({"bootstrap.servers": servers, "acks": "all"})
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=servers, group_id=None, auto_offset_reset="earliest"
    )
    partitions = [kafka.TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    chance = random.Random(4)
    written: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}
    read: dict[int, list[bytes]] = {number: [] for number in range(PARTITIONS)}

    def poll() -> None:
        for partition, records in consumer.poll(timeout_ms=200).items():
            read[partition.partition] += [record.value for record in records]

    for number in range(ROUNDS):
        # What is paused leaves the session, and comes back into it.
        paused = chance.sample(partitions, 5)
        consumer.pause(*paused)
        for target in chance.sample(range(PARTITIONS), 3):
            value = b"%d in %d" % (number, target)
            producer.produce(TOPIC, value, partition=target)
            written[target].append(value)
        assert producer.flush(TIMEOUT_S) == 0
        poll()
        consumer.resume(*paused)
    for _ in range(TIMEOUT_S * 5):
        if read == written:
            break
        poll()
    assert read == written
    handlers = consumer._fetcher._session_handlers.values()
    assert len(handlers) == 3
    assert all(handler.next_metadata.session_id > 0 for handler in handlers)
    assert all(handler.next_metadata.epoch > 1 for handler in handlers)
    consumer.close()
    admin.delete_topics([TOPIC])[TOPIC].result(TIMEOUT_S)
