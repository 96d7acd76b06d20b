import asyncio
from uuid import UUID

from ballast.broker.cluster.metadata_cache import MetadataCache, PartitionMetadata
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import LEADER_DURING_DELETE, TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
ID = UUID(int=5)


def broker(broker_id: int) -> RegisteredBroker:
    return RegisteredBroker(broker_id=broker_id, endpoints=(Endpoint(host="h", port=broker_id),))


def led_by(leader: int) -> PartitionMetadata:
    return PartitionMetadata(leader=leader, leader_epoch=0, isr=(1, 2), replicas=(1, 2))


def filled() -> MetadataCache:
    cache = MetadataCache()
    cache.update([(T0, led_by(1)), (T1, led_by(2))], [broker(2), broker(1)], {"t": ID})
    return cache


def test_brokers_are_replaced_and_partitions_are_added() -> None:
    cache = filled()
    assert cache.update([(T0, led_by(2))], [broker(2)], {}) == frozenset()
    assert list(cache.brokers) == [2]
    assert cache.partition(T0) == led_by(2)
    assert cache.partition(T1) == led_by(2)
    assert cache.topic_id("t") == ID


def test_the_controller_named_is_the_lowest_live_broker() -> None:
    assert MetadataCache().controller_id == -1
    assert filled().controller_id == 1


def test_live_brokers_do_not_fill_it_when_partitions_are_expected() -> None:
    cache = MetadataCache()
    cache.expects_partitions = True
    cache.update([], [broker(1)], {})
    assert not cache.is_filled
    cache.update([(T0, led_by(1))], [broker(1)], {})
    assert cache.is_filled


def test_live_brokers_fill_it_when_there_may_be_no_partition() -> None:
    cache = MetadataCache()
    assert not cache.is_filled
    cache.update([], [broker(1)], {})
    assert cache.is_filled


def test_a_deleted_topic_is_forgotten() -> None:
    cache = filled()
    gone = led_by(LEADER_DURING_DELETE)
    assert cache.update([(T0, gone)], [broker(1)], {}) == {T0}
    assert list(cache.topics["t"]) == [1]
    cache.update([(T1, gone)], [broker(1)], {})
    assert "t" not in cache.topics
    assert cache.topic_id("t") is None


def test_a_topic_is_led_when_all_its_partitions_are() -> None:
    cache = MetadataCache()
    cache.update([(T0, led_by(1)), (T1, led_by(2))], [broker(1)], {})
    assert not cache.is_led("t", 2)
    cache.update([], [broker(1), broker(2)], {})
    assert cache.is_led("t", 2)
    assert not cache.is_led("t", 3)
    assert not cache.is_led("u", 1)


async def test_waiting_ends_with_an_update() -> None:
    cache = MetadataCache()
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(cache.wait_until(lambda: T1 in _known(cache), 5))
        await asyncio.sleep(0)
        cache.update([(T0, led_by(1))], [], {})
        await asyncio.sleep(0)
        assert not waiting.done()
        cache.update([(T1, led_by(1))], [], {})
    assert waiting.result() is True


async def test_waiting_ends_with_time() -> None:
    assert await MetadataCache().wait_until(lambda: False, 0) is False
    assert await MetadataCache().wait_until(lambda: True, 0) is True


def _known(cache: MetadataCache) -> set[TopicPartition]:
    return {TopicPartition(topic, p) for topic in cache.topics for p in cache.topics[topic]}
