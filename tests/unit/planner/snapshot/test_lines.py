import gzip
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.planner.errors import SnapshotRejected
from ballast.planner.snapshot.columns import ClusterColumns
from ballast.planner.snapshot.entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot.lines import read_snapshot, write_snapshot
from tests.unit.planner.builders import clusters, ids

HEAD = '{"format":"ballast-snapshot/v1","brokers":[{"id":1,"rack":"a"},{"id":2,"logDirs":["/d"]}]}'
TOPIC = (
    '{"topic":"t","replicas":[[1,2],[2]],"bytes":[10,20],'
    '"bytesInPerSecond":[1.5,2],"leaders":[2,-1]}'
)


def read(*lines: str) -> ClusterColumns:
    return read_snapshot(["\n".join(lines).encode()])


def test_a_snapshot_is_read() -> None:
    cluster = read(HEAD, TOPIC, '{"topic":"s","replicas":[[9]]}')
    assert cluster.topics == ("s", "t")
    assert ids(cluster, cluster.replicas) == [(9,), (1, 2), (2,)]
    assert cluster.sizes is not None
    assert cluster.sizes.tolist() == [0, 10, 20]
    assert cluster.rates is not None
    assert cluster.rates.tolist() == [0, 2, 2]
    assert cluster.leaders is not None
    assert cluster.leaders.tolist() == [2, 1, -1]
    # A broker that is not told of is not there: it has no rack and gets nothing.
    assert cluster.brokers.ids.tolist() == [1, 2, 9]
    assert cluster.brokers.cordoned.tolist() == [False, False, True]
    assert cluster.brokers.racks.tolist() == [0, -1, -1]
    assert cluster.brokers.log_dirs == ((), ("/d",), ())


def test_log_dirs_and_capacities_are_read() -> None:
    head = (
        '{"format":"ballast-snapshot/v1","brokers":[{"id":1,"capacityBytes":5,"logDirs":["/a","/b"]},'
        '{"id":2,"capacityBytes":7,"cordoned":true,"logDirs":["/c"]}]}'
    )
    topics = [
        '{"topic":"a","replicas":[[1]]}',
        '{"topic":"b","replicas":[[1,2]],"logDirs":[["/b","/c"]]}',
    ]
    cluster = read(head, *topics, '{"topic":"c","replicas":[[2]]}')
    assert cluster.brokers.capacity_bytes is not None
    assert cluster.brokers.capacity_bytes.tolist() == [5, 7]
    assert cluster.brokers.cordoned.tolist() == [False, True]
    assert cluster.log_dirs is not None
    assert cluster.log_dirs.tolist() == [[-1, -1], [1, 0], [-1, -1]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param([], "line 1: Input data was truncated", id="nothing"),
        pytest.param(['{"format":"x","brokers":[]}'], "line 1: format is 'x', not", id="format"),
        pytest.param(["[]"], "line 1: Expected `object`, got `array`", id="no object"),
        pytest.param(
            ['{"format":"ballast-snapshot/v1","brokers":[{"id":-1}]}'],
            "line 1: Expected `int` >= 0 - at `$.brokers[0].id`",
            id="id",
        ),
        pytest.param(
            ['{"format":"ballast-snapshot/v1","brokers":[{"id":1},{"id":1}]}'],
            "brokers: a broker is there twice",
            id="a broker twice",
        ),
        pytest.param([HEAD, "", '{"topic":'], "line 2: Input data was truncated", id="truncated"),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[1]],"size":[1]}'],
            "line 2: Object contains unknown field `size`",
            id="unknown field",
        ),
        pytest.param([HEAD, '{"topic":"t"}'], "line 2: Object missing required", id="missing"),
        pytest.param([HEAD, TOPIC, TOPIC], "line 3: topic: t is there twice", id="topic twice"),
        pytest.param([HEAD, '{"topic":"a/b","replicas":[]}'], "line 2: topic: ", id="name"),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[]]}'],
            "line 2: Expected `array` of length >= 1 - at `$.replicas[0]`",
            id="no replicas",
        ),
        pytest.param(
            [HEAD, '{"topic":"s","replicas":[[1]]}', '{"topic":"t","replicas":[[1],[2,1,2]]}'],
            "line 3: replicas[1]: names a broker twice",
            id="doubled replica",
        ),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[1]],"bytes":[1,2]}'],
            "line 2: bytes: has 2 items, and the topic 1 partitions",
            id="bytes",
        ),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[1]],"leaders":[]}'],
            "line 2: leaders: has 0 items",
            id="leaders",
        ),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[2]],"logDirs":[["/x"]]}'],
            "line 2: logDirs[0]: broker 2 has no log dir '/x'",
            id="log dir",
        ),
        pytest.param(
            [HEAD, '{"topic":"t","replicas":[[2]],"logDirs":[[]]}'],
            "line 2: logDirs[0]: has 0 items for 1 replicas",
            id="log dirs",
        ),
    ],
)
def test_what_is_wrong_is_named(lines: list[str], message: str) -> None:
    with pytest.raises(SnapshotRejected) as caught:
        read(*lines)
    assert str(caught.value).startswith(message)


def pieces(data: bytes, size: int) -> Iterable[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@given(clusters(), st.integers(1, 200), st.booleans())
def test_what_is_written_is_read(cluster: ClusterColumns, size: int, packed: bool) -> None:
    brokers = cluster.brokers
    names = [None if rack < 0 else brokers.rack_names[rack] for rack in brokers.racks.tolist()]
    columns = zip(brokers.ids.tolist(), names, brokers.cordoned.tolist(), strict=True)
    rows = ids(cluster, cluster.replicas)
    starts = cluster.topic_starts.tolist()
    topics = [
        TopicEntry(topic=topic, replicas=[list(row) for row in rows[first:last]])
        for topic, first, last in zip(cluster.topics, starts, starts[1:], strict=False)
    ]
    entries = [BrokerEntry(id=i, rack=rack, cordoned=cordoned) for i, rack, cordoned in columns]
    data = b"".join(write_snapshot(entries, reversed(topics)))
    again = read_snapshot(pieces(gzip.compress(data) if packed else data, size))
    assert again.topics == cluster.topics
    assert ids(again, again.replicas) == rows
    assert again.brokers.rack_names == brokers.rack_names
    assert again.brokers.racks.tolist() == brokers.racks.tolist()
    assert again.brokers.cordoned.tolist() == brokers.cordoned.tolist()


def test_gzip_that_breaks_off_or_goes_on() -> None:
    packed = gzip.compress(f"{HEAD}\n{TOPIC}\n".encode())
    assert read_snapshot([packed]).partitions == 2
    with pytest.raises(SnapshotRejected, match="breaks off"):
        read_snapshot([packed[:-4]])
    with pytest.raises(SnapshotRejected, match="goes on"):
        read_snapshot([packed, b"x"])
    with pytest.raises(SnapshotRejected, match="is not gzip"):
        read_snapshot([packed[:20] + b"\xff\xff\xff" + packed[23:]])
