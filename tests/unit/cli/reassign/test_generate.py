"""The tool's words, as recorded of Kafka 2.8.2."""

import json
from random import Random

import pytest

from ballast.cli.reassign.failures import CommandFailed
from ballast.cli.reassign.generate import generate
from tests.fakes.cluster_admin import FakeAdmin, FakeCluster


class Tool:
    """A cluster of brokers 1 to 4 with t-0, t-1 and u-0, and what the tool printed."""

    def __init__(self, racks: str = "") -> None:
        self.cluster = FakeCluster(1, 2, 3, 4)
        self.cluster.add("t", 0, 1, 2)
        self.cluster.add("t", 1, 2, 1)
        self.cluster.add("u", 0, 3)
        named = enumerate(racks.split(), start=1)
        self.cluster.racks = {broker_id: rack for broker_id, rack in named if rack != "-"}
        self.lines: list[str] = []

    async def generate(
        self, *topics: str, brokers: str, is_rack_aware: bool = True, seed: int = 0
    ) -> dict[tuple[str, int], list[int]]:
        """Return the proposal."""
        await generate(
            FakeAdmin(self.cluster),
            topics,
            brokers,
            self.lines.append,
            is_rack_aware=is_rack_aware,
            random=Random(seed),
        )
        proposal = json.loads(self.lines[-1])["partitions"]
        return {(p["topic"], p["partition"]): p["replicas"] for p in proposal}


async def test_both_assignments_are_printed() -> None:
    tool = Tool()
    proposed = await tool.generate("u", "t", brokers="3,4")
    assert tool.lines[:4] == [
        "Current partition replica assignment",
        '{"version":1,"partitions":['
        '{"topic":"t","partition":0,"replicas":[1,2],"log_dirs":["any","any"]},'
        '{"topic":"t","partition":1,"replicas":[2,1],"log_dirs":["any","any"]},'
        '{"topic":"u","partition":0,"replicas":[3],"log_dirs":["any"]}]}',
        "",
        "Proposed partition reassignment configuration",
    ]
    assert len(tool.lines) == 5
    assert list(proposed) == [("t", 0), ("t", 1), ("u", 0)]
    assert {*proposed["t", 0]} == {*proposed["t", 1]} == {3, 4}
    assert proposed["t", 0] != proposed["t", 1]
    assert len(proposed["u", 0]) == 1


async def test_where_a_topic_begins_is_drawn() -> None:
    tool = Tool()
    firsts = {
        (await tool.generate("t", brokers="1,2,3,4", seed=seed))["t", 0][0] for seed in range(40)
    }
    assert firsts == {1, 2, 3, 4}


async def test_brokers_that_are_not_there_are_left_out() -> None:
    proposed = await Tool().generate("t", brokers="9,3,4")
    assert {*proposed["t", 0]} == {3, 4}


async def test_racks_count_when_all_have_one() -> None:
    for seed in range(20):
        proposed = await Tool("a a b b").generate("t", brokers="1,2,3,4", seed=seed)
        assert all(({*r} & {1, 2}) and ({*r} & {3, 4}) for r in proposed.values())


async def test_racks_are_left_aside_when_asked() -> None:
    within_one_rack = 0
    for seed in range(20):
        proposed = await Tool("a a b -").generate(
            "t", brokers="1,2,3,4", is_rack_aware=False, seed=seed
        )
        within_one_rack += any({*r} == {1, 2} for r in proposed.values())
    assert within_one_rack


@pytest.mark.parametrize(
    ("topics", "brokers", "message"),
    [
        (("t",), "1,2,1", "Broker list contains duplicate entries: 1"),
        (("t",), "1,x", 'For input string: "x"'),
        (("t", "u", "t"), "1,2", "List of topics to reassign contains duplicate entries: t"),
        (("v",), "1,2", "Topic v not found."),
        (("t",), "1,9", "Replication factor: 2 larger than available brokers: 1."),
        (
            ("t",),
            "1,2,3",
            "Not all brokers have rack information. Add --disable-rack-aware in command line to "
            "make replica assignment without rack information.",
        ),
    ],
)
async def test_what_is_refused(topics: tuple[str, ...], brokers: str, message: str) -> None:
    tool = Tool("a a - b")
    with pytest.raises(CommandFailed) as caught:
        await tool.generate(*topics, brokers=brokers)
    assert str(caught.value) == message
    assert not tool.lines


async def test_brokers_without_racks_are_enough_when_none_has_one() -> None:
    assert await Tool("- - - -").generate("u", brokers="2") == {("u", 0): [2]}
