"""Samples that brokers under the simulated loop write of what they led."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ballast.broker.maintenance.load_reporter import (
    BATCH_BYTES,
    PARTITIONS_PER_STEP,
    batches,
    creatable_load_topic,
)
from ballast.broker.partitions.partition import Partition
from ballast.model.ids import TopicPartition
from ballast.model.load_samples import LoadSample, decode_sample, encode_sample
from ballast.model.topics import LOAD_TOPIC
from ballast.protocol.messages.admin.create_topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import iter_batches
from ballast.protocol.schema import Message
from tests.unit.broker.broker_cluster import EPOCH_MS, P0, TOPIC, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)
HOME = TopicPartition(LOAD_TOPIC, 0)
EVERY_10_S = "10000"


async def written(cluster: Cluster, broker_id: int, home: TopicPartition) -> list[LoadSample]:
    data = await cluster.fetch(broker_id, home, 0)
    samples = []
    for position, _ in iter_batches(data.records or b""):
        for record in read_records(data.records or b"", position):
            sample = decode_sample(record.value or b"")
            assert (record.key, record.timestamp_ms) == (sample.topic.encode(), sample.end_ms)
            samples.append(sample)
    return samples


def is_at(partition: Partition, offset: int) -> bool:
    return partition.log.log_end_offset >= offset


async def samples_of(
    cluster: Cluster, topic: str, count: int, home: TopicPartition = HOME
) -> list[LoadSample]:
    """Wait until there is this number of samples of a topic, and return them."""
    leader = cluster.states[home][0].leader
    partition = cluster.brokers[leader].replicas.partitions[home]
    for records in range(1, 100):
        await cluster.until(partial(is_at, partition, records), 60)
        found = [one for one in await written(cluster, leader, home) if one.topic == topic]
        if len(found) >= count:
            return found
    raise AssertionError(f"no {count} samples of {topic}")


def test_what_clients_did_is_written() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        for name in (HOME, P0, P1):
            await cluster.lead(name, 1, [1])
        records = batch(b"a", b"bc")
        for _ in range(3):
            assert (await cluster.produce(1, P0, records)).error_code == 0
        size = len(records)
        await cluster.fetch(1, P0, 0)
        await cluster.fetch(1, P1, 0)
        first, second = await samples_of(cluster, TOPIC, 2)
        assert first.broker_id == 1
        assert first.partitions == (0, 1)
        assert first.bytes_in == (3 * size, 0)
        assert first.bytes_out == (3 * size, 0)
        assert first.produce_requests == (3, 0)
        assert first.fetch_requests == (1, 1)
        assert first.bytes == (3 * size, 0)
        assert first.end_ms - first.start_ms == 10_000
        assert (second.start_ms, second.end_ms) == (first.end_ms, first.end_ms + 10_000)
        assert first.start_ms >= EPOCH_MS
        assert (second.bytes_in, second.bytes) == ((0, 0), (3 * size, 0))

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_a_fetch_that_waits_counts_once_and_a_followers_not_at_all() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        for name in (HOME, P0):
            await cluster.lead(name, 1, [1, 2])
        records = batch(b"a")
        waiting = cluster.loop.create_task(cluster.fetch(1, P0, 0, max_wait_ms=2000))
        assert (await cluster.produce(1, P0, records, acks=-1)).error_code == 0
        assert len((await waiting).records or b"") == len(records)
        (sample,) = await samples_of(cluster, TOPIC, 1)
        assert (sample.fetch_requests, sample.bytes_out) == ((1,), (len(records),))

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_who_does_not_lead_tells_nothing_but_what_it_did_when_it_led() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(HOME, 1, [1, 2])
        await cluster.lead(P0, 1, [1, 2])
        assert (await cluster.produce(1, P0, batch(b"a"), acks=-1)).error_code == 0
        await cluster.lead(P0, 2, [1, 2])
        assert (await cluster.produce(2, P0, batch(b"b"), acks=-1)).error_code == 0
        found = await samples_of(cluster, TOPIC, 3)
        assert sorted(one.broker_id for one in found) == [1, 2, 2]
        size = len(batch(b"a"))
        assert {(one.broker_id, one.bytes_in) for one in found} == {
            (1, (size,)),
            (2, (size,)),
            (2, (0,)),
        }

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_brokers_share_the_topics_partitions() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        homes = [HOME, TopicPartition(LOAD_TOPIC, 1)]
        await cluster.lead(homes[0], 2, [2])
        await cluster.lead(homes[1], 2, [2])
        await cluster.lead(P0, 1, [1])
        await cluster.lead(P1, 2, [2])
        for home, broker_id in ((homes[1], 1), (homes[0], 2)):
            (sample, *_) = await samples_of(cluster, TOPIC, 1, home)
            assert (sample.broker_id, sample.partitions) == (broker_id, (broker_id - 1,))

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def created(answer: list[CreateTopicsRequest]) -> Callable[[Message, int], Message]:
    def create(request: Message, _version: int) -> Message:
        assert isinstance(request, CreateTopicsRequest)
        answer.append(request)
        return CreateTopicsResponse(
            topics=tuple(CreatableTopicResult(name=topic.name) for topic in request.topics)
        )

    return create


def test_the_topic_is_asked_for_and_what_nobody_takes_is_dropped() -> None:
    async def main(cluster: Cluster) -> None:
        asked: list[CreateTopicsRequest] = []
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.elect(created(asked))
        broker = cluster.brokers[1]
        dropped = broker.context.metrics.dropped_load_samples
        await cluster.until(lambda: dropped.value == 1, 60)
        assert asked[0].topics == (creatable_load_topic(broker.config),)
        # It continues once there is a leader; what was dropped stays lost.
        await cluster.lead(HOME, 1, [1])
        (sample,) = await samples_of(cluster, TOPIC, 1)
        assert sample.end_ms - sample.start_ms == 10_000
        assert sample.start_ms - EPOCH_MS >= 10_000
        assert not broker.failed.is_set()

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_a_leader_that_is_gone_costs_samples_only() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(HOME, 2, [1, 2])
        await cluster.lead(P0, 1, [1])
        await samples_of(cluster, TOPIC, 1)
        cluster.kill(2)
        dropped = cluster.brokers[1].context.metrics.dropped_load_samples
        await cluster.until(lambda: dropped.value >= 1, 60)
        await cluster.lead(HOME, 1, [1])
        assert (await samples_of(cluster, TOPIC, 2))[1].broker_id == 1

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_it_can_be_switched_off() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(HOME, 1, [1])
        await cluster.until(lambda: cluster.loop.now > 200, 300)
        assert await written(cluster, 1, HOME) == []

    simulate(main, ballast_load_sample_interval_ms="0")


def test_the_topic_is_kept_for_as_long_and_as_large_as_configured() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        made = creatable_load_topic(cluster.brokers[1].config)
        assert (made.name, made.num_partitions, made.replication_factor) == (LOAD_TOPIC, 2, -1)
        configs = {config.name: config.value for config in made.configs}
        assert configs["cleanup.policy"] == "delete"
        assert (configs["retention.ms"], configs["retention.bytes"]) == ("5000", "6000")

    simulate(
        main,
        ballast_load_topic_num_partitions="2",
        ballast_load_retention_ms="5000",
        ballast_load_retention_bytes="6000",
    )


def test_many_partitions_take_several_records() -> None:
    count = PARTITIONS_PER_STEP + 10

    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(HOME, 1, [1])
        await cluster.lead(P0, 1, [1])
        replicas = cluster.brokers[1].replicas
        for number in range(1, count):
            made = replicas.host(TopicPartition(TOPIC, number), is_new=True)
            made.view = replicas.partitions[P0].view
        found = await samples_of(cluster, TOPIC, 2)
        assert [len(one.partitions) for one in found] == [PARTITIONS_PER_STEP, 10]
        assert found[0].partitions + found[1].partitions == tuple(range(count))

    simulate(main, ballast_load_sample_interval_ms=EVERY_10_S)


def test_batches_are_bounded_and_lose_nothing() -> None:
    width = 2000
    columns: dict[str, Any] = dict.fromkeys(
        ("partitions", "bytes_in", "bytes_out", "produce_requests", "fetch_requests", "bytes"),
        tuple(range(width)),
    )
    samples = [
        LoadSample(broker_id=1, topic=f"t{number}", start_ms=0, end_ms=1, **columns)
        for number in range(12)
    ]
    size = len(encode_sample(samples[0]))
    made = list(batches(samples))
    assert [count for _, count in made] == [BATCH_BYTES // size] * 2 + [
        12 - 2 * (BATCH_BYTES // size)
    ]
    read = [decode_sample(r.value or b"") for records, _ in made for r in read_records(records)]
    assert read == samples
    assert list(batches([])) == []
