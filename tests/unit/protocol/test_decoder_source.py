from ballast.protocol import decoder_source
from ballast.protocol.messages.records.fetch import FetchRequest
from ballast.protocol.messages.records.init_producer_id import InitProducerIdResponse
from ballast.protocol.messages.records.produce import ProduceRequest


def source_of(message_class: type, version: int, *, flexible: bool) -> str:
    return decoder_source.generate(message_class, version, flexible=flexible)[0]


def test_fixed_fields_in_a_row_take_one_call() -> None:
    source = source_of(InitProducerIdResponse, 4, flexible=True)
    assert source.count("(b, p); p += 17") == 1
    assert source.count("= u") == 1


def test_a_partition_of_a_fetch_takes_one_call_with_its_tag_count() -> None:
    assert "(b, p); p += 33" in source_of(FetchRequest, 12, flexible=True)


def test_every_length_is_checked_before_it_is_used() -> None:
    for version, flexible in ((8, False), (9, True)):
        source = source_of(ProduceRequest, version, flexible=flexible)
        assert source.count("raise refused_length") == 5  # id, topics, name, partitions, records
