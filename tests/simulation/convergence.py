"""What is not as it should be once all faults are healed (C7)."""

import asyncio
from collections.abc import Callable, Collection, Sequence

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.simulation.churn import PREFIX
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.hosts import broker_name


def not_converged(cluster: SimulatedCluster, partitions: Sequence[TopicPartition]) -> str | None:
    """Return what is not as it should be, None if all is."""
    for broker in cluster.broker_ids:
        if not cluster.is_up(broker_name(broker)) or broker not in cluster.brokers:
            return f"broker {broker} is not up"
        offline = cluster.brokers[broker].replicas.log_dirs.offline_directories
        if offline:
            return f"broker {broker} has lost {offline}"
    if cluster.metadata.moves:
        return f"moves are pending: {sorted(cluster.metadata.moves)}"
    for partition in partitions:
        reason = _not_converged(cluster, partition)
        if reason is not None:
            return f"{partition}: {reason}"
    return None


def _not_converged(cluster: SimulatedCluster, partition: TopicPartition) -> str | None:
    state = cluster.metadata.states.get(partition)
    assignment = cluster.metadata.assignments.get(partition)
    if state is None or assignment is None:
        return "it has no state"
    if set(state.isr) != set(assignment.replicas):
        return f"isr {state.isr} of {assignment.replicas}"
    for broker in cluster.broker_ids:
        if broker not in assignment.replicas and cluster.logs.has_replica(broker, partition):
            return f"broker {broker} has a stray replica"
    return _not_in_step(cluster, partition, assignment.replicas, state)


def _not_in_step(
    cluster: SimulatedCluster,
    partition: TopicPartition,
    replicas: Sequence[int],
    state: LeaderAndIsr,
) -> str | None:
    ends = set()
    for replica in replicas:
        parts = cluster.brokers[replica].context
        hosted = parts.replicas.partitions.get(partition)
        if hosted is None or (hosted.leader, hosted.leader_epoch) != (
            state.leader,
            state.leader_epoch,
        ):
            return f"broker {replica} has not heard of {state}"
        if parts.log_dir_moves.is_moving(partition):
            return f"broker {replica} moves it to another directory"
        ends.add((hosted.log.log_end_offset, hosted.high_watermark))
    if len(ends) > 1 or any(end != mark for end, mark in ends):
        return f"ends and high watermarks differ: {sorted(ends)}"
    return None


def churning_topics(cluster: SimulatedCluster) -> list[str]:
    """Return the topics of `churn` that are in ZooKeeper."""
    names = cluster.zookeeper.children_of("/brokers/topics")
    return [name for name in names if name.startswith(PREFIX)]


def left_of_churn(cluster: SimulatedCluster, moved: Collection[str]) -> str | None:
    """Return what there still is of topics of `churn`, None if nothing.

    A broker that was away when a replica was moved off it, and until the topic was gone, keeps
    the folder, as in Kafka: nobody is left who could tell it. So topics that were ``moved``
    may leave folders, and so may brokers that do not know what lay in a failing directory.
    """
    for path in ("/brokers/topics", "/admin/delete_topics", "/config/topics"):
        for name in cluster.zookeeper.children_of(path):
            if name.startswith(PREFIX):
                return f"{path}/{name}"
    for broker in set(cluster.broker_ids) - cluster.started_in_part:
        for name in cluster.logs.hosted(broker):
            topic = name.rpartition("-")[0]
            if name.startswith(PREFIX) and not name.endswith("-delete") and topic not in moved:
                return f"{name} on broker {broker}"
    return None


async def settle(condition: Callable[[], str | None], *, within_s: float) -> str | None:
    """Wait until ``condition`` is None; return what it still says when time is over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within_s
    while (reason := condition()) is not None and loop.time() < deadline:
        await asyncio.sleep(0.1)
    return reason
