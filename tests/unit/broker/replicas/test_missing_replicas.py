"""A broker whose disk was replaced by an empty one while the ISR still names it (KAFKA-14139)."""

import asyncio

import pytest

from ballast.broker.replicas.missing_replicas import compare
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.describe_log_dirs import DescribeLogDirsRequest
from ballast.zk.broker_store.assigned_partitions import AssignedPartition
from ballast.znodes import log_dir_events, topics
from tests.fakes.disk import Crash
from tests.unit.broker.broker_cluster import P0, TOPIC, TOPIC_ID, Cluster, batch, simulate

P1 = TopicPartition(TOPIC, 1)
LIST = "/logs/missing-replicas"
REFUSED = {1: ErrorCode.KAFKA_STORAGE_ERROR}
TAKEN = {1: ErrorCode.NONE}


def assign(cluster: Cluster, *assignments: tuple[int, ...]) -> None:
    partitions = {n: ReplicaAssignment.of(*replicas) for n, replicas in enumerate(assignments)}
    topic = TopicAssignment(topic=TOPIC, topic_id=TOPIC_ID, partitions=partitions)
    cluster.zookeeper.put(topics.path(TOPIC), topics.encode(topic))


def replace_disk(cluster: Cluster) -> None:
    cluster.kill(1)
    cluster.disks[1].be_replaced()


async def emptied(cluster: Cluster, *isr: int) -> None:
    """Give broker 1 an empty disk; it led the only partition, and ``isr`` names it or not."""
    assign(cluster, (1, 2))
    await cluster.start(1, 2)
    await cluster.lead(P0, 1, [1, 2])
    await cluster.produce(1, P0, batch(b"a"), acks=-1)
    await cluster.lead(P0, isr[0], [1, 2], isr=isr)
    replace_disk(cluster)
    await cluster.start(1)


def events(cluster: Cluster) -> int:
    return len(cluster.zookeeper.children_of(log_dir_events.PATH))


@pytest.mark.parametrize(
    ("isr", "present", "replicas", "expected"),
    [
        ((1, 2), False, (1, 2), ([P0], [])),
        ((1,), False, (2, 1), ([P0], [])),
        ((1,), False, (1,), ([], [P0])),
        ((1,), True, (1, 2), ([], [])),
        ((2,), False, (1, 2), ([], [])),
    ],
    ids=["with others", "the last", "the only replica", "the log is here", "out of the ISR"],
)
def test_what_is_missing(
    isr: tuple[int, ...],
    present: bool,
    replicas: tuple[int, ...],
    expected: tuple[list[TopicPartition], list[TopicPartition]],
) -> None:
    assigned = {P0: AssignedPartition(replicas=replicas, isr=isr)}
    assert compare(assigned, {P0} if present else set(), 1) == expected


@pytest.mark.parametrize("leader", [1, 2])
def test_no_role_is_taken_in_an_isr_that_names_the_emptied_broker(leader: int) -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1, 2)
        replicas = cluster.brokers[1].replicas
        assert (P0 in replicas.missing, len(replicas.missing)) == (True, 1)
        for _ in range(2):
            assert await cluster.lead(P0, leader, [1, 2], to=[1]) == REFUSED
        assert not cluster.disks[1].exists("/logs/orders-0")
        produced = await cluster.produce(1, P0, batch(b"b"))
        fetched = await cluster.fetch(1, P0, 0)
        assert produced.error_code == fetched.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        described = await cluster.ask(1, DescribeLogDirsRequest(topics=None), 2)
        assert described.results[0].topics == ()
        assert events(cluster) == 0

    simulate(main)


def test_it_follows_with_an_empty_log_once_it_is_out_of_the_isr() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1, 2)
        assert await cluster.lead(P0, 1, [1, 2], to=[1]) == REFUSED
        assert cluster.disks[1].content(LIST) == b"0\n1\norders 0\n"
        assert await cluster.lead(P0, 2, [1, 2], isr=[2]) == {1: 0, 2: 0}
        replicas = cluster.brokers[1].replicas
        assert len(replicas.missing) == 0
        assert cluster.disks[1].content(LIST) == b"0\n0\n"
        await cluster.until(lambda: replicas.partitions[P0].log.log_end_offset == 1)
        await cluster.until(lambda: cluster.state(P0).isr == (2, 1))

    simulate(main)


def test_the_controller_is_asked_once_for_each_refusal() -> None:
    """It has taken the replica out of the ISR, and takes its disk for lost."""

    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 2, 1)
        await cluster.lead(P0, 2, [1, 2], isr=[2, 1], to=[])
        assert await cluster.lead(P0, 2, [1, 2], isr=[2, 1], to=[1]) == REFUSED
        assert await cluster.stop_replica(1, P0, 9, delete=False) == ErrorCode.NONE
        assert events(cluster) == 0
        for _ in range(3):
            await cluster.lead(P0, 2, [1, 2], isr=[2], to=[])
        await cluster.until(lambda: events(cluster))
        assert events(cluster) == 1
        assert await cluster.lead(P0, 2, [1, 2], isr=[2], to=[1]) == TAKEN
        await cluster.lead(P0, 2, [1, 2], isr=[2], to=[])
        assert events(cluster) == 1

    simulate(main)


def test_an_isr_without_it_is_not_asked_about_before_a_role_was_refused() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 2, 1)
        await cluster.lead(P0, 2, [1, 2], isr=[2], to=[])
        assert await cluster.lead(P0, 2, [1, 2], isr=[2], to=[1]) == TAKEN
        assert events(cluster) == 0

    simulate(main)


def test_what_is_missing_is_known_after_the_next_start_too() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1)
        for clean in (True, False):
            if clean:
                await cluster.stop(1)
            else:
                cluster.kill(1)
            await cluster.start(1)
            assert await cluster.lead(P0, 1, [1, 2], isr=[1], to=[1]) == REFUSED

    simulate(main)


@pytest.mark.parametrize("cut", range(4))
def test_a_start_that_is_cut_off_is_made_up_for_by_the_next(cut: int) -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1)
        replace_disk(cluster)
        disk = cluster.disks[1]
        disk.crash_after = disk.operations + cut
        try:
            await cluster.start(1)
        except Crash:
            cluster.loop.kill(cluster.hosts.pop(1))
            cluster.zookeeper.kill("broker-1")
        else:
            assert cut == 3
            cluster.kill(1)
        disk.crash()
        await cluster.start(1)
        assert await cluster.lead(P0, 1, [1, 2], isr=[1], to=[1]) == REFUSED

    simulate(main)


def test_the_right_disk_leads_again() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1)
        cluster.kill(1)
        cluster.disks[1] = cluster.disks[2]
        path = "/logs/meta.properties"
        mine = cluster.disks[1].content(path).replace(b"broker.id=2", b"broker.id=1")
        cluster.kill(2)
        cluster.disks[1].replace_content(path, mine)
        cluster.disks[1].write_whole(LIST, b"0\n1\norders 0\n")
        await cluster.start(1)
        assert len(cluster.brokers[1].replicas.missing) == 0
        assert await cluster.lead(P0, 1, [1, 2], isr=[1]) == TAKEN
        assert cluster.brokers[1].replicas.partitions[P0].log.log_end_offset == 1

    simulate(main)


@pytest.mark.parametrize("isr", [(2,), (2, 1)])
def test_deletion_and_removal_end_it(isr: tuple[int, ...]) -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, *isr)
        if 1 in isr:
            assert await cluster.lead(P0, 2, [1, 2], isr=isr, to=[1]) == REFUSED
        assert await cluster.stop_replica(1, P0, 9, delete=True) == ErrorCode.NONE
        assert len(cluster.brokers[1].replicas.missing) == 0

    simulate(main)


def test_a_topic_that_waits_for_its_deletion_may_be_led_still() -> None:
    """A reassignment holds the deletion back."""

    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1)
        assert await cluster.lead(P0, 1, [1, 2], isr=[1], to=[1]) == REFUSED
        await cluster.lead(P0, -2, [1, 2], isr=[1], to=[])
        assert await cluster.lead(P0, 1, [1, 2], isr=[1], to=[1]) == REFUSED
        assert events(cluster) == 0

    simulate(main)


def test_a_replica_that_was_moved_away_is_forgotten() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1)
        await cluster.lead(P0, 2, [2], isr=[2])
        assert len(cluster.brokers[1].replicas.missing) == 0

    simulate(main)


def test_a_partition_that_is_new_is_not_missing() -> None:
    async def main(cluster: Cluster) -> None:
        await emptied(cluster, 1, 2)
        cluster.states.clear()
        assert await cluster.lead(P0, 1, [1, 2], to=[1]) == TAKEN

    simulate(main)


@pytest.mark.parametrize(("replicas", "isr"), [((1,), (1,)), ((1, 2), (2,))])
def test_with_nobody_elses_records_at_stake_it_starts_empty(
    replicas: tuple[int, ...], isr: tuple[int, ...]
) -> None:
    async def main(cluster: Cluster) -> None:
        assign(cluster, replicas)
        await cluster.start(1)
        await cluster.lead(P0, 1, replicas, isr=isr, to=[1])
        replace_disk(cluster)
        await cluster.start(1)
        assert len(cluster.brokers[1].replicas.missing) == 0
        assert await cluster.lead(P0, isr[0], replicas, isr=isr) == TAKEN
        assert not cluster.disks[1].exists(LIST)

    simulate(main)


def test_of_two_disks_one_is_replaced() -> None:
    async def main(cluster: Cluster) -> None:
        assign(cluster, (1, 2), (1, 2))
        await cluster.start(1, 2)
        for name in (P0, P1):
            await cluster.lead(name, 1, [1, 2])
        cluster.kill(1)
        disk = cluster.disks[1]
        for file in disk.names("/d2/orders-1"):
            disk.remove(f"/d2/orders-1/{file}")
        disk.remove_directory("/d2/orders-1")
        disk.remove("/d2/meta.properties")
        await cluster.start(1)
        assert disk.content("/d2/missing-replicas") == b"0\n1\norders 1\n"
        assert not disk.exists("/d1/missing-replicas")
        assert await cluster.lead(P0, 1, [1, 2], to=[1]) == TAKEN
        assert await cluster.lead(P1, 1, [1, 2], to=[1]) == REFUSED

    simulate(main, 1, log_dirs="/d1,/d2")


def test_what_was_written_while_an_earlier_process_was_registered_counts() -> None:
    """Its leader takes the follower in until its session has ended."""

    async def main(cluster: Cluster) -> None:
        assign(cluster, (1, 2))
        await cluster.start(1, 2)
        await cluster.lead(P0, 2, [1, 2], isr=[2], to=[2])
        replace_disk(cluster)
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(cluster.start(1))
            await asyncio.sleep(2)
            assert not starting.done()
            await cluster.lead(P0, 2, [1, 2], isr=[2, 1], to=[])
        assert P0 in cluster.brokers[1].replicas.missing
        assert cluster.brokers[1].context.metadata.expects_partitions

    simulate(main)
