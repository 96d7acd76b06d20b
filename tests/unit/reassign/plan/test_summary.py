import pytest

from ballast.reassign.errors import PlanRejected
from ballast.reassign.plan.lines import LogDirMove, PlanLine
from ballast.reassign.plan.summary import (
    BrokerChange,
    PlanSummarizer,
    PlanSummary,
)


def test_sums() -> None:
    summarizer = PlanSummarizer()
    for line in (
        PlanLine(
            topic="a",
            partitions=(0, 1, 5),
            origins=((1, 2), (2, 1), (4, 5)),
            targets=((1, 3), (1, 2), (4, 5)),
            log_dirs=((LogDirMove(3, None, "/d"),), (), (LogDirMove(4, "/c", "/d"),)),
        ),
        PlanLine(topic="b", partitions=(0,), origins=((1,),), targets=((2, 3),)),
    ):
        summarizer.add(line)
    assert summarizer.summary("sha256:x") == PlanSummary(
        digest="sha256:x",
        partitions=4,
        replica_moves=3,
        leader_changes=2,
        log_dir_moves=1,
        topics={"a": 3, "b": 1},
        brokers={
            1: BrokerChange(replicas=3, leaders=2, replicas_out=1, leaders_in=1, leaders_out=1),
            2: BrokerChange(
                replicas=2, leaders=1, replicas_in=1, replicas_out=1, leaders_in=1, leaders_out=1
            ),
            3: BrokerChange(replicas_in=2),
            4: BrokerChange(replicas=1, leaders=1),
            5: BrokerChange(replicas=1),
        },
    )


def line(topic: str, *brokers: int) -> PlanLine:
    return PlanLine(topic=topic, partitions=(0,), origins=(brokers,), targets=(brokers,))


def test_too_many_brokers() -> None:
    summarizer = PlanSummarizer(max_brokers=3)
    summarizer.add(line("a", 1, 2, 3))
    assert sorted(summarizer.summary("").brokers) == [1, 2, 3]
    summarizer.add(line("b", 4))
    with pytest.raises(PlanRejected, match="names more than 3 brokers"):
        summarizer.summary("")


def test_too_many_brokers_are_seen_long_before_the_end() -> None:
    summarizer = PlanSummarizer(max_brokers=3)
    numbers = tuple(range(1000))
    mine, others = ((1,),) * len(numbers), ((2,), (3,), (4,), *[(1,)] * 997)
    summarizer.add(PlanLine(topic="t0", partitions=numbers, origins=mine, targets=mine))
    last = PlanLine(topic="t1", partitions=numbers, origins=others, targets=others)
    with pytest.raises(PlanRejected, match="names more than 3 brokers"):
        summarizer.add(last)


def test_too_many_topics() -> None:
    summarizer = PlanSummarizer(max_topics=1)
    summarizer.add(line("a", 1))
    with pytest.raises(PlanRejected, match="names more than 1 topics"):
        summarizer.add(line("b", 1))
