"""Produce, byte for byte as kio and captured clients and brokers write it."""

from ballast.protocol.api_keys import ApiKey
from ballast.protocol.codec import decode, encode
from ballast.protocol.messages.records.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.unit.protocol.agreement import check_api


def test_every_version_has_kafkas_bytes() -> None:
    check_api(ApiKey.PRODUCE)


def test_records_are_a_slice_of_the_frame() -> None:
    data = PartitionProduceData(index=3, records=b"batch")
    request = ProduceRequest(topic_data=(TopicProduceData(name="t", partition_data=(data,)),))
    frame = bytearray(encode(request, 9))
    records = decode(ProduceRequest, 9, memoryview(frame)).topic_data[0].partition_data[0].records
    assert isinstance(records, memoryview)
    records[0:1] = b"B"
    assert b"Batch" in frame
