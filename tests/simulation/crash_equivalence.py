"""Crash equivalence (C8): the controller dies after each single effect, and the end is the same.

An effect is a write to the metadata store or a command queued for a broker. Each scenario is run
once without a crash; then once for each effect, with a controller that dies right after it and
another one that takes over. The client asks again, as any client does. R1, R2, R4 and more are
asserted by the cluster at every effect (`tests.fakes.controller_cluster`).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.events import (
    AutoPreferredReplicaLeaderElection,
    ConfigChange,
    IsrChangeNotification,
    LeaderAndIsrAnswered,
    PartitionModifications,
    ZkPartitionReassignment,
    ZkPreferredElection,
)
from ballast.controller.topics.new_topics import NewTopic
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import ControllerCrashed
from tests.simulation.violations import require

T0 = TopicPartition("t", 0)
BROKERS = (1, 2, 3, 4, 5, 6)

Step = Callable[[ControllerCluster], Awaitable[None]]


# -- steps: each may be repeated after a crash -------------------------------------------------


def moving(*replicas: int) -> Step:
    async def step(cluster: ControllerCluster) -> None:
        await cluster.controller.alter_partition_reassignments({T0: replicas or None})

    return step


async def settling(cluster: ControllerCluster) -> None:
    await cluster.settle()


async def moving_many(cluster: ControllerCluster) -> None:
    targets = {T0: (4, 5), TopicPartition("t", 1): (2, 1), TopicPartition("v", 0): (6, 1)}
    await cluster.controller.alter_partition_reassignments(targets)


async def catching_up_halfway(cluster: ControllerCluster) -> None:
    state = cluster.state(T0)
    if cluster.metadata.assignment(T0).is_being_reassigned and 4 not in state.isr:
        cluster.metadata.change_isr(T0, *state.isr, 4)
    await cluster.handle(IsrChangeNotification())


async def asking_by_znode(cluster: ControllerCluster) -> None:
    if cluster.metadata.assignment(T0) != ReplicaAssignment.of(4, 5):
        cluster.metadata.reassignments = {T0: (4, 5), TopicPartition("unknown", 0): (1,)}
    await cluster.handle(ZkPartitionReassignment())


def losing(*broker_ids: int) -> Step:
    async def step(cluster: ControllerCluster) -> None:
        for broker_id in broker_ids:
            if broker_id in cluster.metadata.brokers:
                cluster.stop_broker(broker_id)
        await cluster.brokers_changed()

    return step


async def everyone_back(cluster: ControllerCluster) -> None:
    for broker_id in BROKERS:
        if broker_id not in cluster.metadata.brokers:
            cluster.start_broker(broker_id)
    await cluster.brokers_changed()


async def bouncing(cluster: ControllerCluster) -> None:
    cluster.start_broker(1)
    await cluster.brokers_changed()


async def shutting_down(cluster: ControllerCluster) -> None:
    await cluster.controller.controlled_shutdown(1, -1)


async def losing_a_disk(cluster: ControllerCluster) -> None:
    errors = {T0: "KAFKA_STORAGE_ERROR"}
    await cluster.handle(LeaderAndIsrAnswered(broker_id=1, error="NONE", partition_errors=errors))


async def deleting(cluster: ControllerCluster) -> None:
    await cluster.controller.delete_topics(["t"])


async def creating(cluster: ControllerCluster) -> None:
    assignments = {0: (4, 5), 1: (6, 4)}
    await cluster.controller.create_topics([new_topic("new", assignments)])


async def creating_again(cluster: ControllerCluster) -> None:
    await cluster.controller.create_topics([new_topic("t", {0: (4, 5)})])


def new_topic(topic: str, assignment: Mapping[int, tuple[int, ...]]) -> NewTopic:
    return NewTopic(topic=topic, topic_id=UUID(int=7), assignment=assignment)


async def growing(cluster: ControllerCluster) -> None:
    topic = cluster.metadata.topics.get("t")
    if topic is not None and 2 not in topic.partitions:
        partitions = {**topic.partitions, 2: ReplicaAssignment.of(5, 6)}
        cluster.metadata.topics["t"] = TopicAssignment(
            topic="t", topic_id=None, partitions=partitions
        )
    await cluster.handle(PartitionModifications("t"))


async def preferring(cluster: ControllerCluster) -> None:
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, None)


async def preferring_by_znode(cluster: ControllerCluster) -> None:
    cluster.metadata.preferred_elections = {T0, TopicPartition("unknown", 0)}
    await cluster.handle(ZkPreferredElection())


async def giving_back(cluster: ControllerCluster) -> None:
    await cluster.handle(AutoPreferredReplicaLeaderElection())


async def falling_behind(cluster: ControllerCluster) -> None:
    """Leave the leader of t-0 alone in sync."""
    cluster.metadata.change_isr(T0, 1)
    await cluster.handle(IsrChangeNotification())


async def allowing_unclean(cluster: ControllerCluster) -> None:
    cluster.metadata.configs["t"] = {"unclean.leader.election.enable": "true"}
    cluster.metadata.config_changes = ["t"]
    await cluster.handle(ConfigChange())


SCENARIOS: dict[str, Sequence[Step]] = {
    "move": (moving(4, 5), settling),
    "grow and shrink": (moving(1, 2, 3, 4), settling, moving(4), settling),
    "reorder": (moving(2, 3, 1), settling, preferring, settling),
    "override": (moving(4, 5), moving(6, 1), settling),
    "override in sync": (moving(4, 5), catching_up_halfway, moving(6, 1), settling),
    "cancel": (moving(4, 5), moving(), settling),
    "cancel in sync": (moving(4, 5), catching_up_halfway, moving(), settling),
    "many": (moving_many, settling),
    "znode": (asking_by_znode, settling),
    "znode supplanted": (asking_by_znode, moving(6, 2), settling),
    "target lost": (moving(4, 5), losing(4), settling, everyone_back, settling),
    "leader lost": (moving(4, 5), losing(1), settling, everyone_back, settling),
    "delete": (deleting, settling),
    "delete in a move": (moving(4, 5), deleting, settling),
    "delete with a broker down": (losing(3), deleting, settling, everyone_back, settling),
    "delete and create again": (deleting, settling, creating_again, settling),
    "create": (creating, settling),
    "create with a broker down": (losing(4), creating, settling, everyone_back, settling),
    "more partitions": (growing, settling),
    "more partitions in a deletion": (
        losing(3),
        deleting,
        growing,
        settling,
        everyone_back,
        settling,
    ),
    "bounce": (bouncing, settling),
    "two brokers lost": (losing(1, 2), settling, everyone_back, settling),
    "controlled shutdown": (shutting_down, losing(1), settling, everyone_back, settling),
    "disk lost": (losing_a_disk, settling, bouncing, settling),
    "preferred by znode": (
        losing(1),
        everyone_back,
        settling,
        preferring_by_znode,
        settling,
    ),
    "leadership given back": (losing(1), everyone_back, settling, giving_back, settling),
    "unclean election": (falling_behind, losing(1), allowing_unclean, settling),
}


# -- runs ----------------------------------------------------------------------------------------


async def start() -> ControllerCluster:
    """Return a cluster of six brokers and two topics, led by its first controller."""
    cluster = ControllerCluster()
    cluster.start_broker(*BROKERS)
    cluster.add_topic("t", (1, 2, 3), (1, 2))
    cluster.add_topic("v", (3, 2))
    await cluster.fail_over()
    await cluster.settle()
    return cluster


async def run(cluster: ControllerCluster, steps: Sequence[Step], *, second_crash: int = 0) -> int:
    """Run the steps; after a crash fail over and, like any client, ask again.

    Returns how many times the controller crashed.
    """
    crashes = 0
    remaining = [*steps]
    while remaining:
        try:
            await remaining[0](cluster)
            remaining.pop(0)
        except ControllerCrashed:
            crashes += 1
            if second_crash and crashes == 1:
                cluster.effects.crash_after(second_crash)
            remaining.insert(0, _failing_over)
    return crashes


async def _failing_over(cluster: ControllerCluster) -> None:
    await cluster.fail_over()
    cluster.controller.context.check_invariants()


def outcome(cluster: ControllerCluster) -> object:
    """Return what must not depend on crashes: assignments, in-sync sets, what is left to do."""
    metadata = cluster.metadata
    return (
        cluster.replicas(),
        {tp: frozenset(state.isr) for tp, state in metadata.states.items()},
        {tp for tp, state in metadata.states.items() if not state.has_leader},
        metadata.reassignments,
        metadata.deletions,
        metadata.preferred_elections,
    )


async def sweep(scenario: str, *, second_crash: int = 0) -> int:
    """Crash at every boundary of a scenario, and again ``second_crash`` effects later (0: never).

    Returns how many boundaries there are; raises `InvariantViolation` C8.
    """
    steps = SCENARIOS[scenario]
    reference = await start()
    before = reference.effects.count
    await run(reference, steps)
    _require_rest(reference, scenario)
    boundaries = reference.effects.count - before
    for effects in range(1, boundaries + 1):
        cluster = await start()
        cluster.effects.crash_after(effects)
        text = f"{scenario}, crash after effect {effects} of {boundaries}"
        require("C8", await run(cluster, steps, second_crash=second_crash) >= 1, f"none: {text}")
        _require_rest(cluster, text)
        same = outcome(cluster) == outcome(reference)
        require("C8", same, f"{text}: {outcome(cluster)}, not {outcome(reference)}")
    return boundaries


def _require_rest(cluster: ControllerCluster, text: str) -> None:
    """Require that nothing is pending and every live replica, and nobody else, is in sync (R4)."""
    require("R4", not cluster.controller.context.being_reassigned, f"pending, {text}")
    for partition, assignment in cluster.replicas().items():
        live = {*assignment.replicas} & cluster.metadata.brokers.keys()
        state = cluster.state(partition)
        require("R4", {*state.isr} == live, f"{partition}: {state} of {assignment}, {text}")


def sweep_all() -> int:
    """Sweep every scenario once; return the number of boundaries."""
    return sum(asyncio.run(sweep(scenario)) for scenario in SCENARIOS)
