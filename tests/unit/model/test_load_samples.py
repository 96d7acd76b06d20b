import json
from typing import Any

import pytest

from ballast.model.load_samples import (
    MAX_PARTITIONS_PER_SAMPLE,
    LoadSample,
    LoadSampleRejected,
    decode_sample,
    encode_sample,
)

SAMPLE = LoadSample(
    broker_id=3,
    topic="orders",
    start_ms=1_000,
    end_ms=61_000,
    partitions=(0, 4),
    bytes_in=(52_100, 0),
    bytes_out=(104_200, 7),
    produce_requests=(12, 0),
    fetch_requests=(40, 2),
    bytes=(9_000_000, 5),
)
WRITTEN = (
    b'{"version":1,"brokerId":3,"topic":"orders","startMs":1000,"endMs":61000,"partitions":[0,4],'
    b'"bytesIn":[52100,0],"bytesOut":[104200,7],"produceRequests":[12,0],"fetchRequests":[40,2],'
    b'"bytes":[9000000,5]}'
)


def test_a_sample_as_it_is_written() -> None:
    assert encode_sample(SAMPLE) == WRITTEN
    assert decode_sample(WRITTEN) == SAMPLE


def test_fields_of_later_writers_are_passed_over() -> None:
    assert decode_sample(WRITTEN[:-1] + b',"recordsIn":[1,2]}') == SAMPLE


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "another version": ({"version": 2}, "version: 2 is not 1"),
    "no time": ({"endMs": 1000}, "endMs: not after startMs"),
    "a column too short": ({"bytesOut": [1]}, "bytes_out: not one item for each of partitions"),
    "a negative amount": ({"bytesIn": [-1, 0]}, "bytesIn"),
    "no topic": ({"topic": ""}, "topic"),
    "too many": ({"partitions": list(range(MAX_PARTITIONS_PER_SAMPLE + 1))}, "partitions"),
}


@pytest.mark.parametrize(("changed", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_sample_is_named(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(LoadSampleRejected, match=words):
        decode_sample(json.dumps({**json.loads(WRITTEN), **changed}).encode())


@pytest.mark.parametrize("value", [b"", b"{}", b"\x00\x01", b"[" * 5000])
def test_other_records_are_refused(value: bytes) -> None:
    with pytest.raises(LoadSampleRejected):
        decode_sample(value)
