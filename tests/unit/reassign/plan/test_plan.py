import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ballast.model.ids import TopicPartition
from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import PlanLine
from ballast.reassign.plan.plan import Plan

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
A2 = TopicPartition("a", 2)
PLAN = Plan.of({T1: (3, 1), T0: (2, 3), A2: (1,)}, {T0: (1, 2), T1: (1, 3), A2: (1,)})

replicas = st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=4, unique=True).map(tuple)
partitions = st.builds(
    TopicPartition, st.from_regex(r"[a-z0-9_]{1,6}", fullmatch=True), st.integers(0, 50)
)
plans = st.dictionaries(partitions, st.tuples(replicas, replicas), max_size=12).map(
    lambda moves: Plan.of(
        {tp: to for tp, (_, to) in moves.items()}, {tp: was for tp, (was, _) in moves.items()}
    )
)


def test_canonical_lines_and_their_digest() -> None:
    assert PLAN.lines() == (
        '{"topic":"a","partitions":[2],"from":[[1]],"to":[[1]]}',
        '{"topic":"t","partitions":[0,1],"from":[[1,2],[1,3]],"to":[[2,3],[3,1]]}',
    )
    stream = "".join(f"{line}\n" for line in PLAN.lines()).encode()
    assert PLAN.digest == f"sha256:{hashlib.sha256(stream).hexdigest()}"


def test_counts() -> None:
    assert PLAN.replica_moves == 1
    assert PLAN.leader_changes == 2
    assert PLAN.topics == ("a", "t")
    assert PLAN.moves[1].adding == (3,)
    assert PLAN.moves[1].removing == (1,)
    assert not PLAN.moves[2].adding


def test_a_big_topic_takes_lines_of_a_thousand() -> None:
    """And their digest is the same wherever the plan comes from."""
    whole = {TopicPartition("t", partition): (1, 2) for partition in range(0, 5002, 2)}
    plan = Plan.of({**whole, TopicPartition("u", 0): (3,)}, {**whole, TopicPartition("u", 0): (4,)})
    lines = [PlanLine.decode(line.encode()) for line in plan.lines()]
    assert [(line.topic, line.partitions[0], len(line.partitions)) for line in lines] == [
        ("t", 0, 1000),
        ("t", 2000, 1000),
        ("t", 4000, 501),
        ("u", 0, 1),
    ]
    assert Plan.of_lines(lines) == plan
    assert Plan.of_lines(lines).digest == plan.digest


@given(plans)
def test_the_rollback_digest_is_that_of_the_inverse(plan: Plan) -> None:
    assert plan.rollback_digest == plan.inverse().digest


@given(plans)
def test_lines_give_the_plan_back(plan: Plan) -> None:
    assert Plan.from_lines(plan.lines()) == plan


@given(plans)
def test_the_inverse_of_the_inverse_is_the_plan(plan: Plan) -> None:
    assert plan.inverse().inverse() == plan
    assert plan.inverse().targets == {m.topic_partition: m.origin for m in plan.moves}


@given(plans, plans)
def test_different_plans_have_different_digests(one: Plan, other: Plan) -> None:
    assert (one.digest == other.digest) == (one == other)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{}",
        '{"topic":"t"}',
        '{"topic":5,"partitions":[],"from":[],"to":[]}',
        '{"topic":"..","partitions":[0],"from":[[1]],"to":[[2]]}',
        '{"topic":"t","partitions":5,"from":[[1]],"to":[[2]]}',
        '{"topic":"t","partitions":[0],"from":[[1]],"to":[]}',
        '{"topic":"t","partitions":[true],"from":[[1]],"to":[[2]]}',
        '{"topic":"t","partitions":[0],"from":[[]],"to":[[2]]}',
        '{"topic":"t","partitions":[0],"from":[[1,1]],"to":[[2]]}',
        '{"topic":"t","partitions":[0],"from":[1],"to":[[2]]}',
        '{"topic":"t", "partitions":[0],"from":[[1]],"to":[[2]]}',
        '{"topic":"t","partitions":[1,0],"from":[[1],[1]],"to":[[2],[2]]}',
        '{"topic":"t","partitions":[0,0],"from":[[1],[1]],"to":[[2],[2]]}',
        "[" * 100_000,
    ],
)
def test_only_the_canonical_form_is_read(line: str) -> None:
    with pytest.raises(PlanRejected, match="line 2: "):
        Plan.from_lines(['{"topic":"a","partitions":[2],"from":[[1]],"to":[[1]]}', line])
