"""Samples of load: drawn, as records, and as the rates that one process makes of them."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec
from pyspark.sql import DataFrame, SparkSession

from ballast.model.load_features import LoadFeatures
from ballast.model.load_samples import LoadSample, encode_sample
from ballast.planner.snapshot.entries import TopicEntry
from ballast.planner.snapshot.load_history import LoadHistory

BEGIN_MS = 1_700_000_000_000
HOUR_MS = 3_600_000


def drawn_samples(topics: int, partitions: int) -> list[LoadSample]:
    """Return samples that leave gaps, overlap and tell of what is not there, in no order.

    They are of some days; each broker's come to more than those before.
    """
    chance = random.Random(topics)
    samples = []
    for topic in (*(f"t{number:03}" for number in range(topics)), "elsewhere"):
        for broker_id in range(3):
            begin_ms = BEGIN_MS + chance.randrange(30_000)
            for number in range(12):
                end_ms = begin_ms + chance.choice((1, 777, 60_000, 61_003, HOUR_MS))
                led = sorted(chance.sample(range(partitions + 3), partitions // 2))
                samples.append(_sample(chance, broker_id, topic, (begin_ms, end_ms), led, number))
                begin_ms = end_ms + chance.choice(
                    (0, 0, 120_000, -20_000, 7 * HOUR_MS, 31 * HOUR_MS)
                )
    chance.shuffle(samples)
    return samples


def records(session: SparkSession, samples: Iterable[LoadSample], *others: bytes) -> DataFrame:
    """Return the records that samples are kept in, and others that are none."""
    values = [(bytearray(value),) for value in chain(map(encode_sample, samples), others)]
    return session.createDataFrame(values, "value binary")


def with_rates(text: bytes, history: LoadHistory, features: LoadFeatures) -> bytes:
    """Return a snapshot with the rates that one process makes of the history."""
    head, *lines = text.splitlines(keepends=True)
    return head + b"".join(_told(lines, history, features))


def _told(lines: Sequence[bytes], history: LoadHistory, features: LoadFeatures) -> Iterator[bytes]:
    for line in lines:
        topic = msgspec.json.decode(line, type=TopicEntry)
        count = len(topic.replicas)
        topic.bytes_in_per_second = history.bytes_in_per_second(topic.topic, count, features)
        yield msgspec.json.encode(topic) + b"\n"


def _sample(
    chance: random.Random,
    broker_id: int,
    topic: str,
    ends_ms: tuple[int, int],
    led: Sequence[int],
    number: int,
) -> LoadSample:
    nothing = (0,) * len(led)
    return LoadSample(
        broker_id=broker_id,
        topic=topic,
        start_ms=ends_ms[0],
        end_ms=ends_ms[1],
        partitions=tuple(led),
        bytes_in=tuple(int(10 ** chance.uniform(4, 7 + number / 4)) for _ in led),
        bytes_out=nothing,
        produce_requests=nothing,
        fetch_requests=nothing,
        bytes=nothing,
    )
