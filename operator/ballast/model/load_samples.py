"""Samples of load: the records of ``__ballast_load``, which brokers write and plans are made from.

A record is what one broker counted of one topic's partitions, those that it led, in one interval.
Its key is the topic's name; its value is JSON, columns of one item per partition in one order::

    {"version":1,"brokerId":3,"topic":"orders","startMs":1700000000000,"endMs":1700000060000,
     "partitions":[0,4],"bytesIn":[52100,0],"bytesOut":[104200,0],
     "produceRequests":[12,0],"fetchRequests":[40,2],"bytes":[9000000,0]}

Bytes are those of record batches as they are stored; ``bytesOut`` and ``fetchRequests`` are of
consumers, not of followers; ``bytes`` is the size of the leader's log at the end. A topic with many
partitions takes several records. Fields that are not known are passed over, so that later writers
may add some; what changes the meaning of those that are there changes ``version``.
"""

from typing import Annotated

import msgspec

from ballast.model.settings.values import INT_MAX

SAMPLE_VERSION = 1
MAX_PARTITIONS_PER_SAMPLE = 2000

_Amount = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Amounts = tuple[_Amount, ...]
_Number = Annotated[int, msgspec.Meta(ge=0, le=INT_MAX)]
_MAX_REASON = 200


class LoadSampleRejected(ValueError):
    """A record is no sample; the message says why."""


class LoadSample(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename="camel"):
    """One record."""

    version: Annotated[int, msgspec.Meta(ge=1)] = SAMPLE_VERSION
    broker_id: _Number
    topic: Annotated[str, msgspec.Meta(min_length=1, max_length=249)]
    start_ms: _Amount
    end_ms: _Amount
    partitions: Annotated[tuple[_Number, ...], msgspec.Meta(max_length=MAX_PARTITIONS_PER_SAMPLE)]
    bytes_in: _Amounts
    bytes_out: _Amounts
    produce_requests: _Amounts
    fetch_requests: _Amounts
    bytes: _Amounts


_COLUMNS = ("bytes_in", "bytes_out", "produce_requests", "fetch_requests", "bytes")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(LoadSample)


def encode_sample(sample: LoadSample) -> bytes:
    """Return a sample as the value of its record."""
    return _ENCODER.encode(sample)


def decode_sample(value: bytes) -> LoadSample:
    """Return the sample that a record's value is. Raises `LoadSampleRejected`."""
    try:
        sample = _DECODER.decode(value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise LoadSampleRejected(str(error)[:_MAX_REASON]) from error
    if sample.version != SAMPLE_VERSION:
        raise LoadSampleRejected(f"version: {sample.version} is not {SAMPLE_VERSION}")
    if sample.end_ms <= sample.start_ms:
        raise LoadSampleRejected("endMs: not after startMs")
    for column in _COLUMNS:
        if len(getattr(sample, column)) != len(sample.partitions):
            raise LoadSampleRejected(f"{column}: not one item for each of partitions")
    return sample
