import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ReassignmentFileRejected
from ballast.reassign.plan.kafka_json import (
    check_executable,
    format_reassignment_json,
    parse_reassignment_json,
    parse_topics_json,
)


def partition(fields: str) -> str:
    return f'{{"version":1,"partitions":[{{{fields}}}]}}'


def test_the_tools_compact_json() -> None:
    assert format_reassignment_json({TopicPartition("t", 0): (1, 2)}) == (
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],'
        '"log_dirs":["any","any"]}]}'
    )


@given(
    st.dictionaries(
        st.builds(TopicPartition, st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.integers(0, 99)),
        st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True).map(tuple),
        min_size=1,
    )
)
def test_what_is_written_is_read(assignments: dict[TopicPartition, tuple[int, ...]]) -> None:
    proposed = parse_reassignment_json(format_reassignment_json(assignments))
    assert check_executable(proposed) == assignments
    assert [entry.topic_partition for entry in proposed] == sorted(assignments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The input string is not a valid JSON"),
        ("[]", "Expected a JSON object"),
        ('{"version":2}', "Not supported version field value 2"),
        ('{"version":true}', "Not supported version field value True"),
        ('{"partitions":{}}', "Expected `partitions` to be a JSON array"),
        ('{"partitions":[NaN]}', "The input string is not a valid JSON"),
        ('{"partitions":[1]}', "Expected each entry"),
        (partition('"topic":"t","partition":0'), "No such field exists: `replicas`"),
        (partition('"topic":5,"partition":0,"replicas":[]'), "Expected `topic`"),
        (partition('"topic":"t","partition":true,"replicas":[]'), "Expected `partition`"),
        (partition('"topic":"t","partition":0,"replicas":[99999999999]'), "Expected `replicas`"),
        (partition('"topic":"t","partition":0,"replicas":[1],"log_dirs":[1]'), "Expected `log_d"),
        (
            partition('"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any"]'),
            "Size of replicas list List(1, 2) is different from size of log dirs list List(any) "
            "for partition t-0",
        ),
        ("[" * 100_000, "The input string is not a valid JSON"),
        ('{"version":' + "9" * 5000 + "}", "The input string is not a valid JSON"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(ReassignmentFileRejected) as caught:
        parse_reassignment_json(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("partitions", "message"),
    [
        ("", "Partition reassignment list cannot be empty"),
        (
            '{"topic":"t","partition":0,"replicas":[]}',
            "Partition replica list cannot be empty",
        ),
        (
            ",".join(['{"topic":"foo","partition":0,"replicas":[1,2]}'] * 2),
            "Partition reassignment contains duplicate topic partitions: foo-0",
        ),
        (
            '{"topic":"foo","partition":0,"replicas":[1,2,1]},'
            '{"topic":"foo","partition":1,"replicas":[2,2]}',
            "Partition replica lists may not contain duplicate entries: foo-0 contains multiple "
            "entries for 1. foo-1 contains multiple entries for 2",
        ),
    ],
)
def test_files_that_cannot_be_executed(partitions: str, message: str) -> None:
    proposed = parse_reassignment_json(f'{{"partitions":[{partitions}]}}')
    with pytest.raises(ReassignmentFileRejected) as caught:
        check_executable(proposed)
    assert str(caught.value) == message


def test_the_topics_to_move() -> None:
    both = '{"topics":[{"topic":"b"},{"topic":"a"},{"topic":"b"}],"version":1}'
    assert parse_topics_json(both) == ("b", "a", "b")
    assert parse_topics_json("{}") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version":2,"topics":[]}', "Not supported version field value 2"),
        ('{"topics":{}}', "Expected `topics` to be a JSON array"),
        ('{"topics":["t"]}', "No such field exists: `topic`"),
        ('{"topics":[{"topic":1}]}', "Expected `topic` to be a string"),
    ],
)
def test_files_without_topics_to_move(text: str, message: str) -> None:
    with pytest.raises(ReassignmentFileRejected) as caught:
        parse_topics_json(text)
    assert str(caught.value) == message


@given(st.text(max_size=60))
def test_hostile_text_gives_typed_errors_only(text: str) -> None:
    with contextlib.suppress(ReassignmentFileRejected):
        parse_reassignment_json(text)
