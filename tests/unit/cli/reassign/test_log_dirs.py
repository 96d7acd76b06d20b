"""The tool's words (ReassignPartitionsCommand 2.8.2), without blank lines."""

import pytest

from ballast.cli.reassign.actions import cancel, execute, verify
from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.kafka_json import ProposedPartition
from ballast.reassign.throttle.throttle_values import FOLLOWER_RATE, LEADER_RATE, LOG_DIRS_RATE
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster

T0 = TopicPartition("t", 0)


class Tool:
    """A cluster of brokers 1, 2, 3 with partition t-0 on 1 and 2, and what the tool printed."""

    def __init__(self) -> None:
        self.cluster = FakeCluster(1, 2, 3, copy_rate=1000.0)
        self.cluster.add("t", 0, 1, 2)
        self.admin = FakeAdmin(self.cluster)
        self.clock = FakeClock()
        self.clock.cluster = self.cluster
        self.lines: list[str] = []

    async def execute(self, *places: tuple[int, str], **options: int) -> list[str]:
        await execute(self.admin, plan(*places), self.lines.append, clock=self.clock, **options)  # type: ignore[arg-type]
        return self.printed()

    async def verify(self, *places: tuple[int, str]) -> list[str]:
        await verify(self.admin, plan(*places), self.lines.append, clock=self.clock)
        return self.printed()

    async def cancel(self, *places: tuple[int, str]) -> list[str]:
        await cancel(self.admin, plan(*places), self.lines.append, clock=self.clock)
        return self.printed()

    def finish(self) -> None:
        """Have every move between directories end."""
        self.admin.log_dirs.update(self.admin.future_log_dirs)
        self.admin.future_log_dirs.clear()

    def printed(self) -> list[str]:
        lines = [line for line in "\n".join(self.lines).splitlines() if line]
        self.lines.clear()
        return lines


def plan(*places: tuple[int, str]) -> tuple[ProposedPartition, ...]:
    return (
        ProposedPartition(
            topic_partition=T0,
            replicas=tuple(broker for broker, _ in places),
            log_dirs=tuple(path for _, path in places),
        ),
    )


async def test_a_move_within_a_broker() -> None:
    tool = Tool()
    places = ((1, "any"), (2, "/data2"))
    assert (await tool.execute(*places, log_dirs_throttle=500))[3:] == [
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure "
        "the throttle is removed.",
        "The replica-alter-dir throttle limit was set to 500 B/s",
        "Successfully started partition reassignment for t-0",
        "Successfully started log directory move for: t-0-2",
    ]
    assert tool.admin.future_log_dirs == {(T0, 2): "/data2"}
    assert tool.cluster.broker_configs == {1: {}, 2: {LOG_DIRS_RATE: "500"}, 3: {}}
    assert await tool.verify(*places) == [
        "Status of partition reassignment:",
        "Reassignment of partition t-0 is complete.",
        "Reassignment of replica t-0-2 is still in progress.",
    ]
    assert tool.cluster.broker_configs[2] == {LOG_DIRS_RATE: "500"}
    tool.finish()
    assert await tool.verify(*places) == [
        "Status of partition reassignment:",
        "Reassignment of partition t-0 is complete.",
        "Reassignment of replica t-0-2 completed successfully.",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic t",
    ]
    assert tool.cluster.broker_configs == {1: {}, 2: {}, 3: {}}


async def test_a_replica_that_is_yet_to_come_is_asked_for_again() -> None:
    tool = Tool()
    printed = await tool.execute((1, "/data1"), (3, "/data2"), throttle=1000)
    assert printed[-3:] == [
        "Successfully started partition reassignment for t-0",
        "Successfully started log directory move for: t-0-1",
        "Successfully started log directory move for: t-0-3",
    ]
    assert {LEADER_RATE, FOLLOWER_RATE} <= tool.cluster.broker_configs[3].keys()
    assert LOG_DIRS_RATE not in tool.cluster.broker_configs[3]


async def test_it_is_not_asked_for_for_ever() -> None:
    tool = Tool()
    tool.clock.cluster = None
    before = tool.clock.now()
    with pytest.raises(TerseFailure) as failed:
        await tool.execute((1, "/data1"), (3, "/data3"), timeout_ms=5000)
    assert str(failed.value) == "Timed out before log directory move could be started for: t-0-3"
    assert 5 <= tool.clock.now() - before < 5.2


async def test_a_directory_that_the_broker_does_not_have() -> None:
    tool = Tool()
    with pytest.raises(CommandFailed, match="Failed to alter dir for t-0-2: no such directory"):
        await tool.execute((1, "any"), (2, "/else"))


async def test_a_broker_that_does_not_answer() -> None:
    tool = Tool()
    tool.admin.unreachable = {2}
    with pytest.raises(CommandFailed, match="broker 2 does not answer"):
        await tool.execute((1, "any"), (2, "/data2"))
    with pytest.raises(CommandFailed, match="broker 2 does not answer"):
        await tool.verify((1, "any"), (2, "/data2"))


async def test_moves_that_are_not_as_wanted() -> None:
    tool = Tool()
    tool.admin.future_log_dirs[T0, 1] = "/data9"
    tool.admin.log_dirs[T0, 2] = None
    assert await tool.verify((1, "/data1"), (2, "/data2")) == [
        "Status of partition reassignment:",
        "Reassignment of partition t-0 is complete.",
        "Partition t-0 on broker 1 is being moved to log dir /data9 instead of /data1.",
        "Partition t-0 is not found in any live log dir on broker 2. There is likely an offline "
        "log directory on the broker.",
    ]
    tool.finish()
    tool.admin.log_dirs[T0, 2] = "/data2"
    assert (await tool.verify((1, "/data1"), (2, "/data2")))[2:4] == [
        "Partition t-0 on broker 1 is not being moved from log dir /data9 to /data1.",
        "Reassignment of replica t-0-2 completed successfully.",
    ]


async def test_a_move_is_cancelled_by_putting_it_back() -> None:
    tool = Tool()
    places = ((1, "any"), (2, "/data2"))
    await tool.execute(*places)
    assert await tool.cancel(*places) == [
        "None of the specified partition reassignments are active.",
        "Successfully started log directory move for: t-0-2",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic t",
    ]
    assert tool.admin.future_log_dirs == {}
    assert (await tool.cancel(*places))[1] == "None of the specified partition moves are active."
