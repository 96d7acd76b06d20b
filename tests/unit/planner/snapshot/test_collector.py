import pytest

from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot import collector
from ballast.planner.snapshot.collector import SnapshotCollector
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from tests.unit.planner.builders import ids


def topic(name: str, *rows: list[int]) -> TopicEntry:
    return TopicEntry(topic=name, replicas=list(rows))


def test_nothing_is_a_cluster_too() -> None:
    columns = SnapshotCollector([]).columns()
    assert (columns.partitions, columns.brokers.count, columns.topics) == (0, 0, ())
    assert columns.topic_starts.tolist() == [0]


def test_rows_of_all_widths_in_any_order() -> None:
    collecting = SnapshotCollector([BrokerEntry(id=i) for i in (3, 1)])
    for entry in (topic("b", [1], [3, 1]), topic("c"), topic("a", [3])):
        collecting.add(entry, "here")
    columns = collecting.columns()
    assert columns.topics == ("a", "b", "c")
    assert columns.topic_starts.tolist() == [0, 1, 3, 3]
    assert columns.replicas.tolist() == [[1, -1], [0, -1], [1, 0]]
    assert columns.sizes is None
    assert columns.log_dirs is None


def test_large_ids_are_found() -> None:
    collecting = SnapshotCollector([BrokerEntry(id=2**31 - 1), BrokerEntry(id=5)])
    collecting.add(topic("t", [2**31 - 1, 5]), "here")
    columns = collecting.columns()
    assert ids(columns, columns.replicas) == [(2**31 - 1, 5)]


@pytest.mark.parametrize(
    ("limit", "message"), [("MAX_PARTITIONS", "3 part"), ("MAX_TOPICS", "3 to")]
)
def test_no_more_than_the_limit(limit: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, limit, 3)
    collecting = SnapshotCollector([])
    for name in "abc":
        collecting.add(topic(name, [1]), "here")
    with pytest.raises(SnapshotRejected, match=f"there: more than {message}"):
        collecting.add(topic("d", [1]), "there")
