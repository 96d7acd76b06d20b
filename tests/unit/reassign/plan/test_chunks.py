import base64
import gzip
import hashlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.chunks import (
    MAX_WRITTEN_BYTES,
    ChunkedPlan,
    PlanWriter,
    write_lines,
    write_plan,
)
from ballast.reassign.plan.index import MAX_CHUNK_TEXT_BYTES
from ballast.reassign.plan.lines import PlanLine
from ballast.reassign.plan.plan import Plan, PlannedMove, lines_of
from ballast.reassign.plan.reader import read_plan
from tests.unit.reassign.big_plans import big_plan

replicas = st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(tuple)
plans = st.dictionaries(
    st.builds(TopicPartition, st.sampled_from(["a", "b", "c.d"]), st.integers(0, 3000)),
    st.tuples(replicas, replicas),
    max_size=40,
).map(
    lambda moves: Plan.of(
        {tp: to for tp, (_, to) in moves.items()}, {tp: was for tp, (was, _) in moves.items()}
    )
)


def text_of(plan: ChunkedPlan) -> bytes:
    return b"".join(gzip.decompress(chunk.data) for chunk in plan.chunks)


@given(plans)
def test_chunks_give_the_plan_back(plan: Plan) -> None:
    written = write_plan(plan.moves)
    assert written.summary.digest == plan.digest
    assert written.summary.replica_moves == plan.replica_moves
    assert written.summary.leader_changes == plan.leader_changes
    assert text_of(written) == "".join(f"{line}\n" for line in plan.lines()).encode()
    index = written.index("move")
    assert Plan.of_lines(read_plan(index, [chunk.data for chunk in written.chunks])) == plan


def write_small(moves: Iterable[PlannedMove], max_chunk_bytes: int) -> ChunkedPlan:
    writer = PlanWriter(max_chunk_bytes=max_chunk_bytes)
    for line in lines_of(moves):
        writer.add(line)
    return writer.finish()


def test_one_topic_of_any_size_is_cut_into_chunks() -> None:
    """Each chunk as full as can be; the index says what is in them."""
    most = 150_000
    written = write_small(big_plan(topics=1, partitions=30_000, brokers=1000), most)
    assert len(written.chunks) == 3
    for chunk in written.chunks:
        assert len(chunk.data) <= most
    index = written.index("move")
    assert index.partitions == 30_000
    assert index.replica_moves == 30_000
    text = text_of(written)
    assert index.digest == f"sha256:{hashlib.sha256(text).hexdigest()}"
    for number, (chunk, reference) in enumerate(zip(written.chunks, index.chunks, strict=True)):
        assert reference.name == f"move-plan-{index.digest[7:15]}-{number}"
        assert reference.digest == f"sha256:{hashlib.sha256(chunk.data).hexdigest()}"
        assert reference.text_bytes == len(gzip.decompress(chunk.data))


def test_small_topics_fill_chunks() -> None:
    first, second = write_small(big_plan(topics=6000, partitions=1), 40_000).chunks
    assert 39_000 < len(first.data) <= 40_000
    assert len(second.data) < 40_000


def test_a_full_chunk_in_base64_leaves_room_for_metadata_below_a_mebibyte() -> None:
    assert len(base64.b64encode(bytes(MAX_WRITTEN_BYTES))) + 60_000 < 2**20


def test_the_text_of_a_chunk_is_bounded_however_well_it_is_compressed() -> None:
    replicas = tuple(range(10**9, 10**9 + 32))
    lines = [
        PlanLine(
            topic=f"t{number:03}",
            partitions=tuple(range(1000)),
            origins=(replicas,) * 1000,
            targets=(replicas,) * 1000,
        )
        for number in range(30)
    ]
    written = write_lines(lines)
    assert sum(len(chunk.data) for chunk in written.chunks) < MAX_WRITTEN_BYTES
    assert len(written.chunks) > 1
    assert all(chunk.text_bytes <= MAX_CHUNK_TEXT_BYTES for chunk in written.chunks)


def test_the_longest_line_fits_into_a_chunk() -> None:
    state, ids = 1, list[int]()
    while len(ids) < 64_000:
        state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        ids.append(10**9 + (state >> 34) % 10**9)
    rows = [tuple(ids[start : start + 32]) for start in range(0, 64_000, 32)]
    longest = PlanLine(
        topic="t" * 249,
        partitions=tuple(range(2**31 - 1001, 2**31 - 1)),
        origins=tuple(rows[:1000]),
        targets=tuple(rows[1000:]),
    )
    written = write_lines([longest])
    assert [chunk.text_bytes for chunk in written.chunks] == [len(longest.encode()) + 1]
    assert written.chunks[0].text_bytes > 700_000


def test_the_same_moves_give_the_same_bytes() -> None:
    one, other = (write_plan(big_plan(topics=40, partitions=50)) for _ in range(2))
    assert one == other
    assert one.chunks[0].data[:10].hex() == "1f8b08000000000000ff"


def test_an_empty_plan_has_no_chunks() -> None:
    written = write_plan(())
    assert written.chunks == ()
    assert written.summary.digest == Plan(moves=()).digest
    assert list(read_plan(written.index("move"), ())) == []


def move(topic: str, partition: int) -> PlannedMove:
    return PlannedMove(
        topic_partition=TopicPartition(topic, partition), origin=(1, 2), target=(1, 3)
    )


@pytest.mark.parametrize(
    "moves",
    [
        pytest.param([move("b", 0), move("a", 0)], id="topics"),
        pytest.param([move("a", 1), move("a", 0)], id="partitions"),
        pytest.param([move("a", 0), move("a", 0)], id="twice"),
        pytest.param([move("a b", 0)], id="illegal topic"),
    ],
)
def test_what_is_no_plan_is_not_written(moves: list[PlannedMove]) -> None:
    with pytest.raises(PlanRejected):
        write_plan(moves)


def test_too_many_partitions() -> None:
    writer = PlanWriter(max_partitions=2)
    first, second = lines_of([move("a", 0), move("a", 1), move("b", 0)])
    writer.add(first)
    with pytest.raises(PlanRejected, match="too large: over 2 partitions"):
        writer.add(second)


def test_lines_and_moves_are_the_same() -> None:
    moves = tuple(big_plan(topics=2, partitions=1500))
    lines = tuple(lines_of(moves))
    assert [len(line.partitions) for line in lines] == [1000, 500, 1000, 500]
    assert Plan.of_lines(lines).moves == moves
    assert write_lines(lines) == write_plan(moves)
