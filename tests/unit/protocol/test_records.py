import struct
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.protocol.api_keys import ApiKey
from ballast.protocol.errors import (
    BatchTooLarge,
    CorruptRecords,
    InvalidRecords,
    RecordsError,
    UnsupportedMagic,
)
from ballast.protocol.frames import decode_request, decode_response
from ballast.protocol.messages.records.fetch import FetchResponse
from ballast.protocol.messages.records.produce import ProduceRequest
from ballast.protocol.records import (
    COMPRESSIONS,
    CONTROL_BIT,
    HEADER_SIZE,
    TRANSACTIONAL_BIT,
    BatchHeader,
    assign_offset,
    build_batch,
    check_batches,
    check_client_attributes,
    iter_batches,
    pack_batch,
    read_batch_header,
)
from tests.unit.protocol.captured import captured

ENOUGH = 1 << 20
THREE = [(b"k", b"v" * 20, 1000), (None, b"w", 1500), (b"k", None, 900)]
BATCH = build_batch(THREE, base_offset=7, leader_epoch=3)


def changed(**fields: int) -> bytes:
    """Return `BATCH` with other header fields and a checksum that is right for them."""
    header = read_batch_header(BATCH)._replace(**fields)
    return pack_batch(header, BATCH[HEADER_SIZE:])


def patched(position: int, layout: str, value: int) -> bytes:
    """Return `BATCH` with bytes overwritten, and the checksum as it was."""
    batch = bytearray(BATCH)
    struct.pack_into(layout, batch, position, value)
    return bytes(batch)


def test_a_batch_has_kafkas_layout() -> None:
    batch = build_batch([(b"k", b"v", 5)], base_offset=1, leader_epoch=2, base_sequence=9)
    assert batch[:17].hex() == "00000000000000010000003a0000000202".replace(" ", "")
    assert batch[21:HEADER_SIZE].hex() == (
        "00000000000000000000000000050000000000000005" + "ff" * 10 + "0000000900000001"
    )
    # Length 8, attributes, time and offset deltas, key of 1, value of 1, no headers.
    assert batch[HEADER_SIZE:].hex() == "10000000026b027600"


def test_a_header_tells_what_follows_from_it() -> None:
    header = read_batch_header(BATCH)
    assert header.size == len(BATCH)
    assert (header.last_offset, header.next_offset, header.record_count) == (9, 10, 3)
    assert (header.base_timestamp, header.max_timestamp) == (1000, 1500)
    assert {header.is_control, header.is_transactional} == {False}
    assert header.producer_id == -1
    assert header.last_sequence == -1


def test_sequences_wrap() -> None:
    header = read_batch_header(changed(base_sequence=2**31 - 2, producer_id=5, producer_epoch=0))
    assert header.last_sequence == 0


def test_whole_batches_pass() -> None:
    two = BATCH + build_batch(THREE)
    checked = check_batches(memoryview(two), ENOUGH)
    assert [(position, header.base_offset) for position, header in checked] == [
        (0, 7),
        (len(BATCH), 0),
    ]


def test_batches_of_real_producers_and_brokers_pass() -> None:
    found = 0
    for frame in captured(ApiKey.PRODUCE):
        if frame.direction == "request":
            request = decode_request(frame.frame)[1]
            assert isinstance(request, ProduceRequest)
            for topic in request.topic_data:
                for data in topic.partition_data:
                    found += len(check_batches(memoryview(data.records or b""), ENOUGH))
    for frame in captured(ApiKey.FETCH):
        if frame.direction == "response":
            response = decode_response(FetchResponse, frame.version, frame.frame)[1]
            for answer in response.responses:
                for partition in answer.partitions:
                    records = memoryview(partition.records or b"")
                    found += len(check_batches(records, ENOUGH, from_producer=False))
    assert found > 5


REFUSED: dict[str, tuple[bytes, type[RecordsError]]] = {
    "nothing": (b"", InvalidRecords),
    "a few bytes": (BATCH[:16], CorruptRecords),
    "half a header": (BATCH[:60], CorruptRecords),
    "no records": (BATCH[:61], CorruptRecords),
    "a byte short": (BATCH[:-1], CorruptRecords),
    "a byte more": (BATCH + b"\0", CorruptRecords),
    "half a second batch": (BATCH + BATCH[:70], CorruptRecords),
    "damaged record": (BATCH[:-1] + bytes((BATCH[-1] ^ 1,)), CorruptRecords),
    "wrong checksum": (patched(17, ">I", 1), CorruptRecords),
    "length 0": (patched(8, ">i", 0), CorruptRecords),
    "length -1": (patched(8, ">i", -1), CorruptRecords),
    "length -2^31": (patched(8, ">i", -(2**31)), CorruptRecords),
    "length 48": (patched(8, ">i", 48), CorruptRecords),
    "length one less": (patched(8, ">i", len(BATCH) - 13), CorruptRecords),
    "length 2^31-1": (patched(8, ">i", 2**31 - 1), CorruptRecords),
    "magic 0": (patched(16, ">b", 0), UnsupportedMagic),
    "magic 1": (patched(16, ">b", 1), UnsupportedMagic),
    "magic 3": (patched(16, ">b", 3), CorruptRecords),
    "magic 255": (patched(16, ">B", 255), CorruptRecords),
    "negative offset": (patched(0, ">q", -1), CorruptRecords),
    "fewer records than offsets": (changed(record_count=2), InvalidRecords),
    "more records than offsets": (changed(record_count=4), InvalidRecords),
    "negative count": (changed(record_count=-1), CorruptRecords),
    "no record": (changed(record_count=0), InvalidRecords),
    "offsets without records": (changed(last_offset_delta=5), InvalidRecords),
    "negative delta": (changed(last_offset_delta=-1, record_count=0), CorruptRecords),
    "2^31-1 records": (
        changed(last_offset_delta=2**31 - 2, record_count=2**31 - 1),
        InvalidRecords,
    ),
    "compression 5": (changed(attributes=5), InvalidRecords),
    "producer id -2": (changed(producer_id=-2), InvalidRecords),
    "producer without sequence": (changed(producer_id=1, producer_epoch=0), InvalidRecords),
    "producer without epoch": (changed(producer_id=1, base_sequence=0), InvalidRecords),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_batch_is_refused(name: str) -> None:
    records, error = REFUSED[name]
    before = bytes(records)
    with pytest.raises(error) as raised:
        check_batches(memoryview(records), ENOUGH)
    assert type(raised.value) is error
    assert records == before


def test_refusal_costs_no_memory() -> None:
    lying = patched(8, ">i", 2**31 - 1)
    tracemalloc.start()
    with pytest.raises(CorruptRecords):
        check_batches(memoryview(lying), 2**31)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * 1024


def test_every_magic_but_2_is_refused() -> None:
    for magic in set(range(256)) - {2}:
        with pytest.raises((UnsupportedMagic, CorruptRecords)):
            check_batches(patched(16, ">B", magic), ENOUGH)


@pytest.mark.parametrize("timestamp", [-(2**63), -1, 0, 2**63 - 1])
def test_any_timestamp_passes(timestamp: int) -> None:
    batch = changed(base_timestamp=timestamp, max_timestamp=timestamp)
    assert check_batches(batch, ENOUGH)[0][1].max_timestamp == timestamp


def test_large_batches_are_refused() -> None:
    check_batches(BATCH, len(BATCH))
    with pytest.raises(BatchTooLarge):
        check_batches(BATCH, len(BATCH) - 1)


def test_followers_take_what_compaction_left() -> None:
    gap = changed(last_offset_delta=10)
    empty = pack_batch(read_batch_header(BATCH)._replace(record_count=0), b"")
    for batch in (gap, empty):
        assert check_batches(batch, ENOUGH, from_producer=False)
        with pytest.raises(InvalidRecords):
            check_batches(batch, ENOUGH)
    assert check_batches(b"", ENOUGH, from_producer=False) == []
    with pytest.raises(InvalidRecords):
        check_batches(changed(record_count=4), ENOUGH, from_producer=False)


@pytest.mark.parametrize("codec", range(1, len(COMPRESSIONS)))
def test_compressed_batches_stay_closed(codec: int) -> None:
    batch = build_batch(THREE, attributes=codec, compressed=b"never looked at")
    assert check_batches(batch, ENOUGH)[0][1].compression == codec


@pytest.mark.parametrize(
    ("bits", "transactions", "refused"),
    [
        (0, False, False),
        (CONTROL_BIT, False, True),
        (CONTROL_BIT, True, True),
        (TRANSACTIONAL_BIT, False, True),
        (TRANSACTIONAL_BIT, True, False),
    ],
)
def test_clients_may_not_set_brokers_bits(bits: int, transactions: bool, refused: bool) -> None:
    header = read_batch_header(changed(attributes=bits))
    if refused:
        with pytest.raises(InvalidRecords):
            check_client_attributes(header, transactions=transactions)
    else:
        check_client_attributes(header, transactions=transactions)


def test_offsets_are_set_in_place_and_the_checksum_holds() -> None:
    buffer = bytearray(b"xx" + BATCH)
    assign_offset(buffer, 2, 2**40, 12)
    [(position, header)] = check_batches(memoryview(buffer)[2:], ENOUGH)
    assert (position, header.base_offset, header.partition_leader_epoch) == (0, 2**40, 12)
    assert buffer[:2] == b"xx"


@pytest.mark.parametrize("tail", [0, 1, 12, 16, 60, 61, len(BATCH) - 1])
def test_iteration_stops_at_a_partial_tail(tail: int) -> None:
    found = list(iter_batches(BATCH + BATCH + BATCH[:tail]))
    assert [position for position, _ in found] == [0, len(BATCH)]


def test_iteration_refuses_garbage() -> None:
    with pytest.raises(CorruptRecords):
        list(iter_batches(BATCH + bytes((9,)) * 100))


@pytest.mark.parametrize("make", [lambda: build_batch([]), lambda: check_batches(b"", ENOUGH)])
def test_no_records_are_no_batch(make: Callable[[], object]) -> None:
    with pytest.raises(InvalidRecords):
        make()


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(RecordsError):
        check_batches(noise, ENOUGH)


@given(st.integers(0, len(BATCH) - 1), st.integers(1, 255))
def test_one_damaged_byte_is_found_or_lies_before_the_checksum(position: int, flip: int) -> None:
    damaged = bytearray(BATCH)
    damaged[position] ^= flip
    try:
        [(_, header)] = check_batches(damaged, ENOUGH)
    except RecordsError:
        return
    same = read_batch_header(BATCH)._replace(base_offset=0, partition_leader_epoch=0)
    assert header._replace(base_offset=0, partition_leader_epoch=0) == same
    assert isinstance(header, BatchHeader)
