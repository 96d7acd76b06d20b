"""A snapshot of a running cluster, through the admin API."""

from ballast.model.ids import TopicPartition
from ballast.net.admin.cluster_snapshot import ClusterSnapshot, take_snapshot
from ballast.net.admin.load_rates import LoadWindow, read_rates
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster
from tests.fakes.load_samples import made_sample


def cluster() -> FakeCluster:
    made = FakeCluster(1, 2, 3)
    made.add("b", 0, 1, 2, size=100)
    made.add("b", 1, 2, 3, size=200)
    made.add("a", 0, 3, 1, size=300)
    return made


async def taken(admin: FakeAdmin, *cordoned: int) -> ClusterSnapshot:
    return await take_snapshot(admin, lambda broker_id: broker_id in cordoned)


async def test_topics_brokers_and_sizes() -> None:
    found = await taken(FakeAdmin(cluster()), 3)
    assert found.cluster_id == "model"
    assert found.partitions == 3
    assert [(one.id, one.cordoned) for one in found.brokers] == [(1, False), (2, False), (3, True)]
    topics = list(found.topics())
    assert [topic.topic for topic in topics] == ["a", "b"]
    assert topics[1].replicas == [[1, 2], [2, 3]]
    assert topics[1].bytes == [100, 200]
    assert topics[1].leaders == [1, 2]
    assert found.silent_brokers == {}
    assert [topic.log_dirs for topic in topics] == [None, None]


async def test_where_the_leader_is_silent_the_largest_replica_counts() -> None:
    model = cluster()
    admin = FakeAdmin(model)
    (partition,) = [p for tp, p in model.partitions.items() if str(tp) == "b-0"]
    partition.sizes = {1: 100, 2: 90}
    admin.unreachable.add(1)
    found = await taken(admin)
    assert list(found.silent_brokers) == [1]
    assert [topic.bytes for topic in found.topics()] == [[300], [90, 200]]


async def test_a_leader_counts_for_more_than_a_larger_follower() -> None:
    model = cluster()
    (partition,) = [p for tp, p in model.partitions.items() if str(tp) == "b-0"]
    partition.sizes = {1: 100, 2: 900}
    found = await taken(FakeAdmin(model))
    assert [topic.bytes for topic in found.topics()] == [[300], [100, 200]]


async def test_a_broker_that_is_down_is_not_among_them() -> None:
    model = cluster()
    model.stop(2)
    found = await taken(FakeAdmin(model))
    assert [one.id for one in found.brokers] == [1, 3]
    assert next(t for t in found.topics() if t.topic == "b").replicas == [[1, 2], [2, 3]]


async def test_a_topic_that_is_not_shown_whole_is_left_out() -> None:
    model = cluster()
    model.partitions = {tp: p for tp, p in model.partitions.items() if str(tp) != "b-0"}
    found = await taken(FakeAdmin(model))
    assert [topic.topic for topic in found.topics()] == ["a"]
    assert found.partitions == 1


async def test_what_is_reassigned_stands_where_it_goes() -> None:
    admin = FakeAdmin(cluster())
    await admin.alter_reassignments({TopicPartition("b", 0): (3, 2)})
    found = await taken(admin)
    assert [topic.replicas for topic in found.topics()] == [[[3, 1]], [[3, 2], [2, 3]]]


async def test_log_directories_are_told_as_far_as_brokers_tell_of_them() -> None:
    admin = FakeAdmin(cluster())
    admin.unreachable.add(1)
    found = await take_snapshot(admin, with_log_dirs=True)
    disks = ("/data", "/data2", "/data3")
    assert [one.log_dirs for one in found.brokers] == [(), disks, disks]
    (own, *_), _ = [topic.log_dirs or [] for topic in found.topics()]
    assert sorted(own, key=str) == ["/data", None]
    admin.unreachable.clear()
    found = await take_snapshot(admin, with_log_dirs=True)
    assert [one.log_dirs for one in found.brokers] == [disks] * 3
    assert [topic.log_dirs for topic in found.topics()] == [[["/data"] * 2], [["/data"] * 2] * 2]


async def test_rates_are_told_where_they_are_known() -> None:
    admin = FakeAdmin(cluster())
    admin.samples = [made_sample("b", [600, 60], end_ms=60_000)]
    rates = await read_rates(admin, LoadWindow(), 60_000)
    found = await taken(admin)
    assert [topic.bytes_in_per_second for topic in found.topics(rates)] == [[0], [10, 1]]
    assert {topic.bytes_in_per_second for topic in found.topics()} == {None}
