import pytest

from ballast.znodes import producer_ids
from ballast.znodes.errors import ZnodeError
from ballast.znodes.producer_ids import ProducerIdBlock
from tests.unit.znodes.hostile import DOCUMENTS, refused, refused_somewhere

PATH = "/latest_producer_id_block"
HOSTILE = {name: data for name, data in DOCUMENTS.items() if data}


def test_as_kafka_writes_it() -> None:
    block = ProducerIdBlock(broker_id=3, first=2000, last=2999)
    data = producer_ids.encode(block)
    assert data == b'{"version":1,"broker":3,"block_start":"2000","block_end":"2999"}'
    assert producer_ids.decode(data) == block


def test_blocks_follow_one_another() -> None:
    assert producer_ids.decode(b"") is None
    first = producer_ids.next_block(None, 1)
    assert (first.first, first.last) == (0, 999)
    second = producer_ids.next_block(first, 2)
    assert (second.broker_id, second.first, second.last) == (2, 1000, 1999)


def test_ids_run_out() -> None:
    last = ProducerIdBlock(broker_id=1, first=0, last=2**63 - 2)
    with pytest.raises(ZnodeError, match="used up"):
        producer_ids.next_block(last, 1)


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile(data: bytes) -> None:
    refused_somewhere(producer_ids.decode, data, PATH)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b'{"broker":1,"block_start":"5","block_end":"4"}', "block_end"),
        (b'{"broker":1,"block_start":"-5","block_end":"4"}', "block_start"),
        (b'{"broker":1,"block_start":5,"block_end":"4"}', "block_start"),
        (b'{"broker":1,"block_start":"0","block_end":"9223372036854775808"}', "block_end"),
    ],
)
def test_bad_fields(data: bytes, field: str) -> None:
    refused(producer_ids.decode, data, PATH, field)
