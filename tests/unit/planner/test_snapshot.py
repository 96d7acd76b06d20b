import pytest

from ballast.model.ids import TopicPartition
from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot import BrokerPlace, PlacedPartition, Snapshot, TopicPlacement
from tests.unit.planner.clusters import cluster


def test_partitions_are_in_order() -> None:
    snapshot = cluster(
        {1: None, 2: None},
        {"u": [[1]], "t": [[1, 2], [2, 1]]},
        sizes={"u": [7], "t": [5, 6]},
    )
    assert list(snapshot.partitions()) == [
        PlacedPartition(topic_partition=TopicPartition("t", 0), replicas=(1, 2), size=5),
        PlacedPartition(topic_partition=TopicPartition("t", 1), replicas=(2, 1), size=6),
        PlacedPartition(topic_partition=TopicPartition("u", 0), replicas=(1,), size=7),
    ]


def test_sizes_may_be_unknown() -> None:
    snapshot = cluster({1: None}, {"t": [[1]]})
    assert [partition.size for partition in snapshot.partitions()] == [0]


def test_racks_count_only_when_every_broker_has_one() -> None:
    assert cluster({1: "a", 2: "b"}, {}).racks == {1: "a", 2: "b"}
    assert cluster({1: "a", 2: None}, {}).racks == {}


@pytest.mark.parametrize(
    ("replicas", "sizes", "reason"),
    [
        pytest.param([[1], []], None, r"t-1 is on \[\]", id="no replicas"),
        pytest.param([[1, 1]], None, r"t-0 is on \[1, 1\]", id="broker twice"),
        pytest.param([[1]], [1, 2], "not one size for each", id="sizes"),
    ],
)
def test_topics_that_cannot_be(
    replicas: list[list[int]], sizes: list[int] | None, reason: str
) -> None:
    with pytest.raises(SnapshotRejected, match=reason):
        cluster({1: None}, {"t": replicas}, sizes=None if sizes is None else {"t": sizes})


def test_clusters_that_cannot_be() -> None:
    broker = BrokerPlace(broker_id=1)
    topic = TopicPlacement(topic="t", replicas=((1,),))
    with pytest.raises(SnapshotRejected, match="a broker is there twice"):
        Snapshot(brokers=(broker, broker), topics=())
    with pytest.raises(SnapshotRejected, match="a topic is there twice"):
        Snapshot(brokers=(broker,), topics=(topic, topic))
