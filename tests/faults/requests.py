"""Requests of one partition, as tests send them over sockets of their own."""

from ballast.protocol.messages.records.fetch import FetchPartition, FetchRequest, FetchTopic
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)


def fetch_of(topic: str, *, max_wait_ms: int) -> FetchRequest:
    """Return a consumer's fetch from the start of partition 0."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=(FetchTopic(topic=topic, partitions=(partition,)),),
    )


def produce_to(topic: str, batch: bytes, *, timeout_ms: int) -> ProduceRequest:
    """Return a request to append a batch to partition 0, with acks=all."""
    data = PartitionProduceData(index=0, records=batch)
    return ProduceRequest(
        acks=-1,
        timeout_ms=timeout_ms,
        topic_data=(TopicProduceData(name=topic, partition_data=(data,)),),
    )
