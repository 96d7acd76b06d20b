import pytest

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import (
    MAX_LINE_BYTES,
    MAX_PARTITIONS_PER_LINE,
    MAX_REPLICAS_PER_PARTITION,
    LineReader,
    LogDirMove,
    PlanLine,
)

TEXT = b'{"topic":"t","partitions":[0,1],"from":[[1,2],[1,3]],"to":[[2,3],[3,1]]}'


def line(topic: str, *partitions: int) -> PlanLine:
    return PlanLine(
        topic=topic,
        partitions=partitions,
        origins=((1, 2),) * len(partitions),
        targets=((2, 3),) * len(partitions),
    )


def test_text_of_a_line() -> None:
    assert PlanLine.decode(TEXT).encode() == TEXT
    assert PlanLine.decode(TEXT) == PlanLine(
        topic="t", partitions=(0, 1), origins=((1, 2), (1, 3)), targets=((2, 3), (3, 1))
    )


def test_the_longest_line_fits() -> None:
    most = 2**31 - 1
    replicas = tuple(range(most - MAX_REPLICAS_PER_PARTITION, most))
    longest = PlanLine(
        topic="t" * 249,
        partitions=tuple(range(most - MAX_PARTITIONS_PER_LINE, most)),
        origins=(replicas,) * MAX_PARTITIONS_PER_LINE,
        targets=(replicas,) * MAX_PARTITIONS_PER_LINE,
    )
    assert len(longest.encode()) <= MAX_LINE_BYTES
    assert PlanLine.decode(longest.encode()) == longest


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(b" " * (MAX_LINE_BYTES + 1), "has more than 750000 bytes", id="too long"),
        pytest.param(b"", "not a line of a plan: Input data was truncated", id="empty"),
        pytest.param(b"\xff", "not a line of a plan: JSON is malformed", id="not UTF-8"),
        pytest.param(TEXT[:-1] + b',"x":1}', "contains unknown field `x`", id="unknown field"),
        pytest.param(TEXT[:-1] + b',"topic":"t"}', "not in canonical form", id="doubled field"),
        pytest.param(
            TEXT.replace(b"[0,1]", b"[1,0]"),
            "partition 0 of a plan stands after 1",
            id="partitions out of order",
        ),
        pytest.param(
            TEXT.replace(b"[0,1]", b"[0,0]"), "partition 0 of a plan stands after 0", id="twice"
        ),
        pytest.param(TEXT.replace(b"[0,1]", b"[0]"), "must be lists of one length", id="lengths"),
        pytest.param(
            TEXT.replace(b"[3,1]", b"[3,3]"), r"replicas of a plan .* \[3, 3\]", id="broker twice"
        ),
        pytest.param(TEXT.replace(b"[3,1]", b"[]"), "length >= 1", id="no replicas"),
        pytest.param(TEXT.replace(b"[3,1]", b"[-1]"), ">= 0", id="negative broker"),
        pytest.param(TEXT.replace(b"[3,1]", b"[2147483648]"), "<= 2147483647", id="big broker"),
        pytest.param(TEXT.replace(b"[0,1]", b"[0,1.0]"), "Expected `int`", id="fraction"),
        pytest.param(TEXT.replace(b'"t"', b'"a b"'), "Topic name 'a b' is illegal", id="topic"),
        pytest.param(
            line("t", *range(MAX_PARTITIONS_PER_LINE + 1)).encode(),
            "length <= 1000",
            id="too many partitions",
        ),
    ],
)
def test_only_the_canonical_line_is_read(text: bytes, reason: str) -> None:
    with pytest.raises(PlanRejected, match=reason):
        PlanLine.decode(text)


FULL = line("t", *range(MAX_PARTITIONS_PER_LINE))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        pytest.param(line("b", 0), line("a", 0), "topic a of a plan stands after b", id="topics"),
        pytest.param(line("t", 3), line("t", 3), "partition 3 of a plan .* after 3", id="doubled"),
        pytest.param(FULL, line("t", 7), "partition 7 of a plan stands after 999", id="back"),
        pytest.param(line("t", 3), line("t", 4), "cut into too many lines", id="cut too early"),
    ],
)
def test_lines_have_one_order(first: PlanLine, second: PlanLine, reason: str) -> None:
    reader = LineReader()
    reader.read(first.encode())
    with pytest.raises(PlanRejected, match=reason):
        reader.read(second.encode())


def test_a_topic_goes_on_after_a_full_line() -> None:
    reader = LineReader()
    for one in (FULL, line("t", 1000), line("u", 0)):
        assert reader.read(one.encode()) == one


NAMING = TEXT.replace(b"]]}", b']],"logDirs":[[],[[3,"/a","/b"]]]}')


def test_directories_are_named_where_they_change() -> None:
    read = PlanLine.decode(NAMING)
    assert read.encode() == NAMING
    assert read.log_dirs_of(1) == (LogDirMove(3, "/a", "/b"),)
    assert read.log_dirs_of(1)[0].inverse() == LogDirMove(3, "/b", "/a")
    assert PlanLine.decode(TEXT).log_dirs_of(1) == ()


@pytest.mark.parametrize(
    ("moves", "reason"),
    [
        (b"[[],[]]", "must have one list for each partition"),
        (b'[[[3,"/a","/b"]]]', "must have one list for each partition"),
        (b'[[],[[3,"a","/b"]]]', "not a line of a plan"),
        (b'[[],[[3,"/a","/b",1]]]', "not a line of a plan"),
        (b'[[],[[9,"/a","/b"]]]', "name broker 9 for others"),
        (b"[[],[[3,null,null]]]", "say nothing of broker 3"),
        (b'[[],[[3,"/a","/b"],[1,"/a","/b"]]]', "are not in order"),
        (b'[[],[[3,"/a","/b"],[3,"/a","/b"]]]', "are not in order"),
    ],
)
def test_directories_are_named_in_one_way(moves: bytes, reason: str) -> None:
    text = NAMING.replace(b'[[],[[3,"/a","/b"]]]', moves)
    with pytest.raises(PlanRejected, match=reason):
        PlanLine.decode(text)
