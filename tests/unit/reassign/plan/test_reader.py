import gzip
import hashlib
import tracemalloc
from collections.abc import Callable, Sequence

import msgspec
import pytest

from ballast.reassign.errors import PlanChunkRejected, PlanRejected
from ballast.reassign.plan.chunks import ChunkedPlan, write_plan
from ballast.reassign.plan.index import ChunkReference, PlanIndex
from ballast.reassign.plan.plan import Plan, lines_of
from ballast.reassign.plan.reader import PlanReader, read_plan, summarize
from tests.unit.reassign.big_plans import big_plan

PLAN = Plan(moves=tuple(big_plan(topics=30, partitions=2)))
LINES = [line.encode() for line in lines_of(PLAN.moves)]


def text(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def reference(name: str, data: bytes, **changes: int) -> ChunkReference:
    """Return what an index says of ``data`` when it says the truth, but for ``changes``."""
    inflated = gzip.decompress(data)
    truth = ChunkReference(
        name=name,
        digest=f"sha256:{hashlib.sha256(data).hexdigest()}",
        stored_bytes=len(data),
        text_bytes=len(inflated),
        partitions=2 * inflated.count(b"\n"),
    )
    return msgspec.structs.replace(truth, **changes)


def index(*chunks: ChunkReference) -> PlanIndex:
    return PlanIndex(
        format="ballast-plan/v1",
        digest=PLAN.digest,
        partitions=sum(chunk.partitions for chunk in chunks),
        replica_moves=PLAN.replica_moves,
        leader_changes=PLAN.leader_changes,
        chunks=chunks,
    )


ONE, TWO = gzip.compress(text(LINES[:10]), mtime=0), gzip.compress(text(LINES[10:]), mtime=0)
INDEX = index(reference("one", ONE), reference("two", TWO))


def test_reading_whoever_compressed() -> None:
    """And wherever the lines were divided: the digest is that of the text."""
    assert Plan.of_lines(read_plan(INDEX, (ONE, TWO))) == PLAN
    summary = summarize(INDEX, (ONE, TWO))
    assert summary == write_plan(PLAN.moves).summary


def test_chunks_are_asked_for_one_by_one() -> None:
    reader = PlanReader(INDEX)
    for name, data, lines in (("one", ONE, 10), ("two", TWO, 20)):
        expected = reader.next_chunk
        assert expected is not None
        assert expected.name == name
        assert len(list(reader.read(data))) == lines
    assert reader.next_chunk is None
    reader.finish()


def test_reading_out_of_turn() -> None:
    reader = PlanReader(INDEX)
    next(reader.read(ONE))
    with pytest.raises(PlanRejected, match="out of order"):
        list(reader.read(ONE))
    with pytest.raises(PlanChunkRejected, match="one: has not been read to its end"):
        reader.finish()
    reader = PlanReader(INDEX)
    list(reader.read(ONE))
    with pytest.raises(PlanChunkRejected, match="two: has not been read to its end"):
        reader.finish()
    list(reader.read(TWO))
    with pytest.raises(PlanRejected, match="out of order"):
        list(reader.read(TWO))


BOMB = gzip.compress(bytes(50_000_000))
UNENDED = gzip.compress(text(LINES)[:-1])
SWAPPED = gzip.compress(text([*LINES[1::-1], *LINES[2:]]))
DOUBLED = gzip.compress(text([LINES[0], LINES[0]]))
SPOILT = gzip.compress(text([LINES[0], LINES[1].replace(b'"from"', b'"From"')]))
LONG = gzip.compress(bytes(5_000_000))


@pytest.mark.parametrize(
    ("chunks", "data", "where", "reason"),
    [
        pytest.param(
            [reference("one", ONE)], [ONE[:-1]], ("one", None), "the index says", id="short"
        ),
        pytest.param(
            [reference("one", ONE)],
            [ONE[:20] + b"?" + ONE[21:]],
            ("one", None),
            "does not have the digest",
            id="other bytes",
        ),
        pytest.param(
            [reference("one", BOMB, text_bytes=1000)],
            [BOMB],
            ("one", None),
            "more text than the 1000 bytes",
            id="bomb",
        ),
        pytest.param(
            [reference("one", LONG, partitions=1)],
            [LONG],
            ("one", None),
            "a line of more than 750000 bytes",
            id="no line in megabytes",
        ),
        pytest.param(
            [reference("one", ONE, text_bytes=10_000)],
            [ONE],
            ("one", None),
            "does not end where it should",
            id="less text",
        ),
        pytest.param(
            [reference("one", ONE + TWO)],
            [ONE + TWO],
            ("one", None),
            "more text|does not end where",
            id="two members",
        ),
        pytest.param(
            [reference("one", UNENDED, partitions=60)],
            [UNENDED],
            ("one", None),
            "does not end where it should",
            id="last line not ended",
        ),
        pytest.param(
            [reference("one", ONE, partitions=21)],
            [ONE],
            ("one", None),
            "has 20 partitions, the index says 21",
            id="partitions",
        ),
        pytest.param(
            [reference("one", SWAPPED)],
            [SWAPPED],
            ("one", 2),
            "topic topic-00000 of a plan stands after topic-00001",
            id="order",
        ),
        pytest.param(
            [reference("one", DOUBLED)], [DOUBLED], ("one", 2), "stands after", id="doubled line"
        ),
        pytest.param(
            [reference("two", TWO), reference("one", ONE)],
            [TWO, ONE],
            ("one", 1),
            "stands after topic-00029",
            id="chunks in another order",
        ),
        pytest.param(
            [reference("one", ONE), reference("again", ONE)],
            [ONE, ONE],
            ("again", 1),
            "stands after",
            id="a chunk again under another name",
        ),
        pytest.param(
            [reference("one", SPOILT)],
            [SPOILT],
            ("one", 2),
            "unknown field `From`",
            id="a line that is none",
        ),
    ],
)
def test_what_is_not_the_plan_is_refused_and_named(
    chunks: list[ChunkReference],
    data: list[bytes],
    where: tuple[str, int | None],
    reason: str,
) -> None:
    with pytest.raises(PlanChunkRejected, match=reason) as caught:
        summarize(index(*chunks), data)
    assert (caught.value.chunk, caught.value.line) == where


@pytest.mark.parametrize("cut", [1, 9, 10, 30])
def test_gzip_that_breaks_off(cut: int) -> None:
    data = ONE[:-cut]
    whole = reference("one", ONE)
    said = msgspec.structs.replace(
        whole, stored_bytes=len(data), digest=f"sha256:{hashlib.sha256(data).hexdigest()}"
    )
    with pytest.raises(PlanChunkRejected, match="one: is gzip that breaks off"):
        summarize(index(said), [data])


@pytest.mark.parametrize("data", [b"plain", b"\x1f\x8b\x08\x00" + b"\xff" * 40])
def test_what_is_not_gzip(data: bytes) -> None:
    said = ChunkReference(
        name="one",
        digest=f"sha256:{hashlib.sha256(data).hexdigest()}",
        stored_bytes=len(data),
        text_bytes=100,
        partitions=1,
    )
    with pytest.raises(PlanChunkRejected, match="one: is not gzip"):
        summarize(index(said), [data])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda i: msgspec.structs.replace(i, digest="sha256:" + "0" * 64), "the index says sha"),
        (lambda i: msgspec.structs.replace(i, replica_moves=1), "60 replica moves, its index says"),
        (lambda i: msgspec.structs.replace(i, leader_changes=1), "0 leader changes, its index"),
    ],
)
def test_an_index_that_says_something_else(
    change: Callable[[PlanIndex], PlanIndex], reason: str
) -> None:
    with pytest.raises(PlanRejected, match=reason):
        summarize(change(INDEX), (ONE, TWO))


def test_a_chunk_too_few() -> None:
    with pytest.raises(PlanChunkRejected, match="two: has not been read"):
        summarize(INDEX, (ONE,))


def test_memory_does_not_grow_with_the_plan() -> None:
    """Beyond its own chunks: a plan of 10,000 partitions takes as much as one of 1,000."""

    def peak(topics: int) -> tuple[ChunkedPlan, int]:
        tracemalloc.start()
        written = write_plan(big_plan(topics=topics, partitions=100))
        stored = sum(len(chunk.data) for chunk in written.chunks)
        summarize(written.index("move"), (chunk.data for chunk in written.chunks))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return written, most - stored

    small, small_peak = peak(10)
    big, big_peak = peak(100)
    assert big.summary.partitions == 10 * small.summary.partitions
    assert big_peak < 2 * small_peak
    assert big_peak < 4_000_000
