"""Moves between the log directories of a broker, as kafka-reassign-partitions 2.8.2 does (KIP-113).

Order and wording are the tool's: scripts match them.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.kafka_json import ANY_LOG_DIR, ProposedPartition
from ballast.reassign.ports import BrokerUnavailable, Clock, ClusterAdmin, ReplicaLogDirs

RETRY_S: Final = 0.1
"""Pause before replicas are asked for again that are not where they are to be moved yet."""

NOT_THERE_YET: Final = frozenset({"REPLICA_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER"})

Found = TypeVar("Found")
Say = Callable[[str], None]


class Replica(NamedTuple):
    """One replica, in the tool's order."""

    broker_id: int
    name: TopicPartition

    def __str__(self) -> str:
        return f"{self.name}-{self.broker_id}"


def proposed_directories(proposed: Iterable[ProposedPartition]) -> dict[Replica, str]:
    """Return the replicas of a file whose directory is named."""
    return {
        Replica(broker_id, entry.topic_partition): path
        for entry in proposed
        for broker_id, path in zip(entry.replicas, entry.log_dirs, strict=True)
        if path != ANY_LOG_DIR
    }


async def start_moves(
    admin: ClusterAdmin,
    targets: Mapping[Replica, str],
    say: Say,
    *,
    clock: Clock,
    timeout_ms: int,
) -> None:
    """Have every replica move; those that are yet to come are asked for until the time is over.

    Raises `TerseFailure`, `CommandFailed`.
    """
    pending = dict(targets)
    deadline = clock.now() + timeout_ms / 1000
    while pending:
        started = await _alter(admin, pending)
        if started:
            say(f"Successfully started log directory move{_plural(started)} for: {_names(started)}")
        for replica in started:
            del pending[replica]
        if pending:
            if clock.now() >= deadline:
                raise TerseFailure(
                    f"Timed out before log directory move{_plural(pending)} could be started for: "
                    + _names(pending)
                )
            await clock.sleep(RETRY_S)


async def _alter(admin: ClusterAdmin, targets: Mapping[Replica, str]) -> list[Replica]:
    """Return the replicas that move now."""
    started = []
    for broker_id in _brokers(targets):
        paths = {r.name: path for r, path in targets.items() if r.broker_id == broker_id}
        refused = await _asked(admin.alter_replica_log_dirs(broker_id, paths))
        for name in sorted(paths):
            error = refused.get(name)
            if error is None:
                started.append(Replica(broker_id, name))
            elif error.error not in NOT_THERE_YET:
                raise CommandFailed(
                    f"Failed to alter dir for {Replica(broker_id, name)}: {error.message}"
                )
    return started


async def describe_moves(
    admin: ClusterAdmin, targets: Mapping[Replica, str]
) -> dict[Replica, ReplicaLogDirs]:
    """Return where the replicas are and go to; raises `CommandFailed`."""
    log_dirs_by_replica = {}
    for broker_id in _brokers(targets):
        names = [replica.name for replica in targets if replica.broker_id == broker_id]
        topics: dict[str, list[int]] = {}
        for name in names:
            topics.setdefault(name.topic, []).append(name.partition)
        places = await _asked(admin.replica_log_dirs(broker_id, topics))
        for name in names:
            log_dirs_by_replica[Replica(broker_id, name)] = places.get(
                name, ReplicaLogDirs(current=None, future=None)
            )
    return log_dirs_by_replica


async def report_moves(admin: ClusterAdmin, targets: Mapping[Replica, str], say: Say) -> bool:
    """Say how far each move is; return whether any is not over. Raises `CommandFailed`."""
    log_dirs_by_replica = await describe_moves(admin, targets)
    lines = [
        _verdict(replica, log_dirs_by_replica[replica], targets[replica])
        for replica in sorted(targets)
    ]
    say("\n".join(lines))
    return any(
        places.current is None or places.future is not None
        for places in log_dirs_by_replica.values()
    )


async def put_back(
    admin: ClusterAdmin,
    targets: Mapping[Replica, str],
    say: Say,
    *,
    clock: Clock,
    timeout_ms: int,
) -> None:
    """End the moves under way: a replica that is to go where it is stays there."""
    active = {
        replica: places.current
        for replica, places in (await describe_moves(admin, targets)).items()
        if places.current is not None and places.future is not None
    }
    if active:
        await start_moves(admin, active, say, clock=clock, timeout_ms=timeout_ms)
    else:
        say("None of the specified partition moves are active.")


def _verdict(replica: Replica, places: ReplicaLogDirs, target: str) -> str:
    name, broker_id = replica.name, replica.broker_id
    if places.current is None:
        return (
            f"Partition {name} is not found in any live log dir on broker {broker_id}. There is "
            "likely an offline log directory on the broker."
        )
    if places.future == target:
        return f"Reassignment of replica {replica} is still in progress."
    if places.future is not None:
        return (
            f"Partition {name} on broker {broker_id} is being moved to log dir {places.future} "
            f"instead of {target}."
        )
    if places.current == target:
        return f"Reassignment of replica {replica} completed successfully."
    return (
        f"Partition {name} on broker {broker_id} is not being moved from log dir {places.current} "
        f"to {target}."
    )


async def _asked(answer: Awaitable[Found]) -> Found:
    try:
        return await answer
    except BrokerUnavailable as unavailable:
        raise CommandFailed(str(unavailable)) from unavailable


def _brokers(targets: Iterable[Replica]) -> list[int]:
    return sorted({replica.broker_id for replica in targets})


def _names(replicas: Iterable[Replica]) -> str:
    return ",".join(str(replica) for replica in sorted(replicas))


def _plural(things: Collection[object]) -> str:
    return "" if len(things) == 1 else "s"
