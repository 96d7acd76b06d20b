"""The tool's words: lists are outputs recorded of Kafka 2.8.2, without their blank lines."""

from collections.abc import Collection

import pytest

from ballast.cli.reassign.actions import EXISTING, cancel, execute, list_active, verify
from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.errors import ReassignmentFileRejected
from ballast.reassign.plan.kafka_json import ProposedPartition
from ballast.reassign.ports import RequestError
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    LOG_DIRS_RATE,
)
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster

T0 = TopicPartition("t", 0)
SAVE = "Save this to use as the --reassignment-json-file option during rollback"
CURRENT = "Current partition replica assignment"
WARNING = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed."
)


class Tool:
    """A cluster of brokers 1, 2, 3 with partition t-0, and what the tool printed."""

    def __init__(self, *replicas: int) -> None:
        self.cluster = FakeCluster(1, 2, 3, copy_rate=1.0)
        self.cluster.add("t", 0, *replicas)
        self.admin = FakeAdmin(self.cluster)
        self.clock = FakeClock()
        self.clock.cluster = self.cluster
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def printed(self) -> list[str]:
        """Return what was printed since last asked, without blank lines."""
        lines = [line for line in self.lines if line]
        self.lines.clear()
        return lines


def plan(*replicas: int, partition: int = 0, topic: str = "t") -> Collection[ProposedPartition]:
    return (
        ProposedPartition(
            topic_partition=TopicPartition(topic, partition),
            replicas=replicas,
            log_dirs=("any",) * len(replicas),
        ),
    )


async def test_a_throttled_move() -> None:
    tool = Tool(1, 2)
    await execute(tool.admin, plan(2, 3), tool.say, clock=tool.clock, throttle=2000000)
    assert tool.printed() == [
        CURRENT,
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],'
        '"log_dirs":["any","any"]}]}',
        SAVE,
        WARNING,
        "The inter-broker throttle limit was set to 2000000 B/s",
        "Successfully started partition reassignment for t-0",
    ]
    assert tool.cluster.topic_configs["t"] == {
        LEADER_REPLICAS: "0:1,0:2",
        FOLLOWER_REPLICAS: "0:3",
    }
    rates = {LEADER_RATE: "2000000", FOLLOWER_RATE: "2000000"}
    assert tool.cluster.broker_configs == {1: rates, 2: rates, 3: rates}

    await list_active(tool.admin, tool.say)
    assert tool.printed() == [
        "Current partition reassignments:",
        "t-0: replicas: 2,3,1. adding: 3. removing: 1.",
    ]
    await verify(tool.admin, plan(2, 3), tool.say, clock=tool.clock)
    assert tool.printed() == [
        "Status of partition reassignment:",
        "Reassignment of partition t-0 is still in progress.",
    ]
    tool.cluster.live(10)
    await verify(tool.admin, plan(2, 3), tool.say, clock=tool.clock)
    assert tool.printed() == [
        "Status of partition reassignment:",
        "Reassignment of partition t-0 is complete.",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic t",
    ]
    assert tool.cluster.broker_configs == {1: {}, 2: {}, 3: {}}
    assert tool.cluster.topic_configs == {"t": {}}


async def test_an_override_and_a_cancel() -> None:
    tool = Tool(2, 3)
    await execute(tool.admin, plan(1, 2), tool.say, clock=tool.clock)
    tool.printed()
    with pytest.raises(TerseFailure) as caught:
        await execute(tool.admin, plan(3, 1), tool.say, clock=tool.clock)
    assert str(caught.value) == EXISTING
    assert tool.printed() == []
    await execute(tool.admin, plan(3, 1), tool.say, clock=tool.clock, additional=True)
    assert tool.printed() == [
        CURRENT,
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2,3],'
        '"log_dirs":["any","any","any"]}]}',
        SAVE,
        "Successfully started partition reassignment for t-0",
    ]
    await cancel(tool.admin, plan(3, 1), tool.say, clock=tool.clock)
    assert tool.printed() == [
        "Successfully cancelled partition reassignment for: t-0",
        "None of the specified partition moves are active.",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic t",
    ]
    assert tool.cluster.replicas()[T0] == (3, 2)


async def test_a_raised_throttle() -> None:
    tool = Tool(2, 3)
    await execute(tool.admin, plan(2, 1), tool.say, clock=tool.clock, throttle=1000000)
    await execute(
        tool.admin, plan(2, 1), tool.say, clock=tool.clock, throttle=100000000, additional=True
    )
    assert tool.cluster.topic_configs["t"] == {
        LEADER_REPLICAS: "0:2,0:3",
        FOLLOWER_REPLICAS: "0:1",
    }
    assert tool.cluster.broker_configs[1][LEADER_RATE] == "100000000"


async def test_blank_lines_are_where_the_tool_has_them() -> None:
    tool = Tool(1, 2)
    await execute(tool.admin, plan(1, 2), tool.say, clock=tool.clock)
    assert [bool(line) for line in tool.lines] == [True, False, True, False, True, True]
    tool.lines.clear()
    await verify(tool.admin, plan(1, 2), tool.say, clock=tool.clock, preserve_throttles=True)
    assert [bool(line) for line in tool.lines] == [True, True, False]


async def test_throttles_can_be_kept() -> None:
    tool = Tool(1, 2)
    tool.cluster.broker_configs[1] = {LOG_DIRS_RATE: "5"}
    await verify(tool.admin, plan(1, 2), tool.say, clock=tool.clock, preserve_throttles=True)
    await cancel(tool.admin, plan(1, 2), tool.say, clock=tool.clock, preserve_throttles=True)
    assert tool.cluster.broker_configs[1] == {LOG_DIRS_RATE: "5"}
    assert tool.printed()[-2:] == [
        "None of the specified partition reassignments are active.",
        "None of the specified partition moves are active.",
    ]
    await verify(tool.admin, plan(1, 2), tool.say, clock=tool.clock)
    assert tool.cluster.broker_configs[1] == {}


async def test_throttles_stay_while_anything_in_the_cluster_moves() -> None:
    tool = Tool(1, 2)
    tool.cluster.add("u", 0, 1, 2)
    tool.cluster.reassign(TopicPartition("u", 0), (1, 3))
    await verify(tool.admin, plan(1, 2), tool.say, clock=tool.clock)
    assert tool.printed()[1:] == ["Reassignment of partition t-0 is complete."]


async def test_words_for_partitions_that_are_elsewhere() -> None:
    tool = Tool(1, 2)
    tool.cluster.add("u", 0, 1)
    proposed = (*plan(2, 3), *plan(3, topic="u"), *plan(1, 2, topic="gone"))
    await verify(tool.admin, proposed, tool.say, clock=tool.clock, preserve_throttles=True)
    assert tool.printed()[1:] == [
        "There is no active reassignment of partition gone-0, but replica set is  rather than 1,2.",
        "There is no active reassignment of partition t-0, but replica set is 1,2 rather than 2,3.",
        "There is no active reassignment of partition u-0, but replica set is 1 rather than 3.",
    ]


async def test_several_partitions_have_a_plural() -> None:
    tool = Tool(1, 2)
    tool.cluster.add("t", 1, 1, 2)
    proposed = (*plan(1, 3, partition=1), *plan(1, 3))
    await execute(tool.admin, proposed, tool.say, clock=tool.clock)
    assert tool.printed()[-1] == "Successfully started partition reassignments for t-0,t-1"
    await cancel(tool.admin, proposed, tool.say, clock=tool.clock)
    assert tool.printed()[0] == "Successfully cancelled partition reassignments for: t-0,t-1"
    await list_active(tool.admin, tool.say)
    assert tool.printed() == ["No partition reassignments found."]


async def test_the_list_is_ordered_and_leaves_empty_parts_out() -> None:
    tool = Tool(1, 2)
    tool.cluster.add("bar", 0, 3)
    bar = tool.cluster.partitions[TopicPartition("bar", 0)]
    bar.assignment = ReplicaAssignment(replicas=(2, 3, 0), removing_replicas=(0,))
    tool.cluster.reassign(T0, (1, 2, 3))
    await list_active(tool.admin, tool.say)
    assert tool.printed()[1:] == [
        "bar-0: replicas: 2,3,0. removing: 0.",
        "t-0: replicas: 1,2,3. adding: 3.",
    ]


@pytest.mark.parametrize(
    ("proposed", "error", "message"),
    [
        ((), ReassignmentFileRejected, "Partition reassignment list cannot be empty"),
        (plan(9), CommandFailed, "Unknown broker id 9"),
        (plan(1, topic="u"), CommandFailed, "Topic u not found."),
    ],
)
async def test_what_cannot_be_executed(
    proposed: Collection[ProposedPartition], error: type[Exception], message: str
) -> None:
    tool = Tool(1, 2)
    with pytest.raises(error) as caught:
        await execute(tool.admin, proposed, tool.say, clock=tool.clock)
    assert str(caught.value) == message
    assert tool.admin.crash_point.effects == []


async def test_a_partition_without_replicas_cannot_be_throttled() -> None:
    tool = Tool(1, 2)
    with pytest.raises(CommandFailed, match="a topic partition t-7 with 0 replicas"):
        await execute(tool.admin, plan(1, partition=7), tool.say, clock=tool.clock, throttle=5)


async def test_refusals_of_the_controller() -> None:
    tool = Tool(1, 2)
    tool.admin.refusals[T0] = RequestError(error="X", message="no way")
    with pytest.raises(TerseFailure, match=r"Error reassigning partition\(s\):\nt-0: no way"):
        await execute(tool.admin, plan(2, 3), tool.say, clock=tool.clock)
    tool.cluster.reassign(T0, (2, 3))
    with pytest.raises(TerseFailure, match="Error cancelling partition reassignment for:\nt-0: no"):
        await cancel(tool.admin, plan(2, 3), tool.say, clock=tool.clock)


async def test_a_dead_broker_does_not_keep_the_throttles_of_the_others() -> None:
    tool = Tool(1, 2)
    for broker in (1, 2, 3):
        tool.cluster.broker_configs[broker] = {LEADER_RATE: "5"}
    tool.cluster.stop(1)
    with pytest.raises(CommandFailed, match="broker 1 does not answer"):
        await verify(tool.admin, plan(1, 2), tool.say, clock=tool.clock)
    assert tool.cluster.broker_configs == {1: {LEADER_RATE: "5"}, 2: {}, 3: {}}
