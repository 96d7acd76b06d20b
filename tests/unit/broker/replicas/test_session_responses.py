"""What rests after an answer, although what was read may be older than the answer."""

import pytest

from ballast.broker.replicas.fetch import FetchParams, read_partitions
from ballast.broker.replicas.session_responses import begin_session
from ballast.protocol.messages.records.fetch import FetchPartition
from ballast.replication.fetch_session import NO_SESSION
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate


def plan(offset: int, *, replica_id: int = -1, epoch: int = -1) -> FetchParams:
    asked = FetchPartition(
        partition=0,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        partition_max_bytes=1 << 20,
    )
    return FetchParams(
        replica_id=replica_id, version=12, min_bytes=1, max_bytes=1 << 20, partitions={P0: asked}
    )


@pytest.mark.parametrize(
    ("offset", "replica_id", "rests"),
    [
        pytest.param(1, -1, True, id="consumer at the end"),
        pytest.param(0, -1, False, id="consumer that was given records"),
        pytest.param(9, -1, False, id="consumer out of range"),
        pytest.param(1, 2, True, id="follower that has said that it is at the end"),
        pytest.param(1, 3, False, id="follower outside of the ISR"),
        pytest.param(1, 4, False, id="no replica"),
    ],
)
def test_what_has_no_more_to_say_rests(offset: int, replica_id: int, rests: bool) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2, 3], isr=[1, 2])
        await cluster.produce(1, P0, batch(b"a"))
        replicas = cluster.brokers[1].replicas
        view = replicas.partitions[P0].view
        assert view is not None
        for follower_id in (2, 3):
            view.record_fetch(follower_id, 1, 0, 0.0, 1)
        replicas.maybe_increment_high_watermark(replicas.partitions[P0])
        asked = plan(offset, replica_id=replica_id)
        session_id = begin_session(replicas, asked, read_partitions(replicas, asked))
        (session,) = replicas.purgatories.sessions.watching(P0)
        assert session.session_id == session_id
        assert (P0 not in session.pending) is rests
        assert (session.partitions[P0].idle_in is view) is (rests and replica_id >= 0)

    simulate(main)


def test_what_has_happened_since_it_was_read_is_looked_at() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        replicas = cluster.brokers[1].replicas
        older = read_partitions(replicas, plan(1))
        await cluster.produce(1, P0, batch(b"b"))
        begin_session(replicas, plan(1), older)
        (session,) = replicas.purgatories.sessions.watching(P0)
        assert list(session.pending) == [P0]

    simulate(main)


def test_a_follower_of_an_older_leader_epoch_does_not_rest() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1, 2])
        replicas = cluster.brokers[1].replicas
        asked = plan(0, replica_id=2, epoch=0)
        older = read_partitions(replicas, asked)
        await cluster.lead(P0, 1, [1, 2])
        begin_session(replicas, asked, older)
        (session,) = replicas.purgatories.sessions.watching(P0)
        assert list(session.pending) == [P0]

    simulate(main)


def test_a_fetch_of_nothing_begins_no_session() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        replicas = cluster.brokers[1].replicas
        empty = FetchParams(replica_id=-1, version=12, min_bytes=1, max_bytes=1, partitions={})
        assert begin_session(replicas, empty, read_partitions(replicas, empty)) == NO_SESSION
        assert len(replicas.purgatories.sessions) == 0

    simulate(main)
