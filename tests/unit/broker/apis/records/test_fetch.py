import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import FetchRequest
from tests.unit.broker.broker_cluster import P0, Cluster, batch, simulate

ZSTD = 4


@pytest.mark.parametrize("version", range(13))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        data = await cluster.fetch(1, P0, 0, version=version)
        if version < 4:
            assert data.error_code == ErrorCode.UNSUPPORTED_VERSION
        else:
            assert data.error_code == 0
            assert len(data.records or b"") == len(batch(b"a"))
            assert data.last_stable_offset == data.high_watermark == 1

    simulate(main)


@pytest.mark.parametrize(("version", "code"), [(9, 76), (10, 0)])
def test_zstd_needs_version_10(version: int, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a", attributes=ZSTD, compressed=b"x"))
        assert (await cluster.fetch(1, P0, 0, version=version)).error_code == code

    simulate(main)


@pytest.mark.parametrize(
    ("offset", "fields", "code"),
    [
        (-1, {}, ErrorCode.OFFSET_OUT_OF_RANGE),
        (2, {}, ErrorCode.OFFSET_OUT_OF_RANGE),
        (0, {"current_leader_epoch": 5}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (0, {"replica_id": 9}, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (1, {}, ErrorCode.NONE),
    ],
)
def test_what_is_refused_is_answered_at_once(
    offset: int, fields: dict[str, int], code: ErrorCode
) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        began = cluster.loop.now
        wait = 0 if code == ErrorCode.NONE else 10_000
        data = await cluster.fetch(1, P0, offset, max_wait_ms=wait, **fields)
        assert data.error_code == code
        assert cluster.loop.now - began < 1

    simulate(main)


def test_a_forged_replica_moves_nothing() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1, 2)
        await cluster.lead(P0, 1, [1, 2])
        await cluster.produce(1, P0, batch(b"a"), acks=-1)
        cluster.kill(2)
        await cluster.produce(1, P0, batch(b"b"), acks=1)
        # Offsets beyond the log and epochs of another leader acknowledge nothing.
        for offset, fields in ((99, {}), (2, {"current_leader_epoch": 7}), (-5, {})):
            await cluster.fetch(1, P0, offset, replica_id=2, **fields)
        view = cluster.brokers[1].replicas.partitions[P0].view
        assert view is not None
        assert view.high_watermark == 1

    simulate(main)


def test_a_fetch_of_no_partitions_is_answered_at_once() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        answer = await cluster.ask(1, FetchRequest(max_wait_ms=60_000, min_bytes=1), 12)
        assert (answer.error_code, answer.session_id, answer.responses) == (0, 0, ())
        assert cluster.loop.now < 5

    simulate(main)
