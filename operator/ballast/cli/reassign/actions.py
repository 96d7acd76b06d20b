"""What ``ballast reassign`` does: the actions of kafka-reassign-partitions 2.8.2 and its words.

Order and wording are the tool's (ReassignPartitionsCommand; KIP-455, KIP-73): scripts match them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from ballast.cli.reassign import log_dirs
from ballast.cli.reassign.config_writes import ConfigWrites
from ballast.cli.reassign.failures import CommandFailed, TerseFailure
from ballast.cli.reassign.options import TIMEOUT_MS
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.reassign.plan.kafka_json import (
    ProposedPartition,
    check_executable,
    format_reassignment_json,
)
from ballast.reassign.ports import Clock, ClusterAdmin, ClusterView, RequestError
from ballast.reassign.throttle.throttle_lists import MAX_VALUE_BYTES
from ballast.reassign.throttle.throttle_values import (
    BROKER_THROTTLES,
    LOG_DIRS_RATE,
    TOPIC_THROTTLES,
    move_map,
    moving_brokers,
    rate_values,
    topic_lists,
)

Say = Callable[[str], None]
"""Prints one line."""

EXISTING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to "
    "override this and create a new partition assignment in addition to the existing one. The "
    "--additional flag can also be used to change the throttle by resubmitting the current "
    "reassignment."
)
RUN_VERIFY = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed."
)


async def execute(
    admin: ClusterAdmin,
    proposed: Collection[ProposedPartition],
    say: Say,
    *,
    clock: Clock,
    throttle: int = -1,
    log_dirs_throttle: int = -1,
    timeout_ms: int = TIMEOUT_MS,
    additional: bool = False,
) -> None:
    """Start the reassignments of a file. Raises `TerseFailure`, `CommandFailed`."""
    configs = ConfigWrites(admin, clock)
    targets = check_executable(proposed)
    directories = log_dirs.proposed_directories(proposed)
    pending = await admin.list_reassignments()
    if pending and not additional:
        raise TerseFailure(EXISTING)
    cluster = await admin.describe_cluster(sorted({tp.topic for tp in targets}))
    _check_brokers(targets, cluster)
    current = _current(targets, cluster)
    say("Current partition replica assignment")
    say("")
    say(format_reassignment_json(current))
    say("")
    say("Save this to use as the --reassignment-json-file option during rollback")
    if throttle >= 0 or log_dirs_throttle >= 0:
        say(RUN_VERIFY)
    if throttle >= 0:
        await _set_throttle(configs, pending, targets, current, throttle)
        say(f"The inter-broker throttle limit was set to {throttle} B/s")
    if log_dirs_throttle >= 0:
        for broker in sorted({replica.broker_id for replica in directories}):
            await configs.broker(broker, {LOG_DIRS_RATE: str(log_dirs_throttle)})
        say(f"The replica-alter-dir throttle limit was set to {log_dirs_throttle} B/s")
    refused = await admin.alter_reassignments(targets)
    if refused:
        raise TerseFailure("Error reassigning partition(s):\n" + _by_partition(refused))
    say(
        f"Successfully started partition reassignment{_plural(targets)} for "
        + ",".join(str(tp) for tp in sorted(targets))
    )
    await log_dirs.start_moves(admin, directories, say, clock=clock, timeout_ms=timeout_ms)


async def verify(
    admin: ClusterAdmin,
    proposed: Collection[ProposedPartition],
    say: Say,
    *,
    clock: Clock,
    preserve_throttles: bool = False,
) -> None:
    """Report on the partitions of a file; clear throttles once nothing moves any more."""
    pending = await admin.list_reassignments()
    targets = {entry.topic_partition: entry.replicas for entry in proposed}
    cluster = await admin.describe_cluster(sorted({tp.topic for tp in targets}))
    say("Status of partition reassignment:")
    for tp in sorted(targets):
        say(_verdict(tp, targets[tp], pending, cluster))
    is_moving = await log_dirs.report_moves(admin, log_dirs.proposed_directories(proposed), say)
    if not pending and not is_moving and not preserve_throttles:
        await _clear_throttles(ConfigWrites(admin, clock), targets, cluster, say)


async def cancel(
    admin: ClusterAdmin,
    proposed: Collection[ProposedPartition],
    say: Say,
    *,
    clock: Clock,
    timeout_ms: int = TIMEOUT_MS,
    preserve_throttles: bool = False,
) -> None:
    """Cancel what a file moves and is being moved, and clear throttles."""
    pending = await admin.list_reassignments()
    targets = {entry.topic_partition: entry.replicas for entry in proposed}
    active = [tp for tp in sorted(targets) if tp in pending]
    if active:
        refused = await admin.alter_reassignments(dict.fromkeys(active))
        if refused:
            raise TerseFailure(
                f"Error cancelling partition reassignment{_plural(refused)} for:\n"
                + _by_partition(refused)
            )
        say(
            f"Successfully cancelled partition reassignment{_plural(active)} for: "
            + ",".join(str(tp) for tp in active)
        )
    else:
        say("None of the specified partition reassignments are active.")
    directories = log_dirs.proposed_directories(proposed)
    await log_dirs.put_back(admin, directories, say, clock=clock, timeout_ms=timeout_ms)
    if not preserve_throttles:
        cluster = await admin.describe_cluster(sorted({tp.topic for tp in targets}))
        await _clear_throttles(ConfigWrites(admin, clock), targets, cluster, say)


async def list_active(admin: ClusterAdmin, say: Say) -> None:
    """List all reassignments in the cluster."""
    pending = await admin.list_reassignments()
    if not pending:
        say("No partition reassignments found.")
        return
    say("Current partition reassignments:")
    for tp in sorted(pending):
        assignment = pending[tp]
        line = f"{tp}: replicas: {_ids(assignment.replicas)}."
        if assignment.adding_replicas:
            line += f" adding: {_ids(assignment.adding_replicas)}."
        if assignment.removing_replicas:
            line += f" removing: {_ids(assignment.removing_replicas)}."
        say(line)


def _check_brokers(targets: Mapping[TopicPartition, tuple[int, ...]], cluster: ClusterView) -> None:
    broker_ids = {broker.broker_id for broker in cluster.brokers}
    for tp in targets:
        for broker in targets[tp]:
            if broker not in broker_ids:
                raise CommandFailed(f"Unknown broker id {broker}")


def _current(
    targets: Mapping[TopicPartition, tuple[int, ...]], cluster: ClusterView
) -> dict[TopicPartition, tuple[int, ...]]:
    topics = {tp.topic for tp in cluster.partitions}
    for tp in targets:
        if tp.topic not in topics:
            raise CommandFailed(f"Topic {tp.topic} not found.")
    return {
        tp: cluster.partitions[tp].replicas for tp in sorted(targets) if tp in cluster.partitions
    }


async def _set_throttle(
    configs: ConfigWrites,
    pending: Mapping[TopicPartition, ReplicaAssignment],
    targets: Mapping[TopicPartition, tuple[int, ...]],
    current: Mapping[TopicPartition, tuple[int, ...]],
    throttle: int,
) -> None:
    for tp in sorted(targets):
        if tp not in pending and tp not in current:
            raise CommandFailed(f"Trying to reassign a topic partition {tp} with 0 replicas")
    moves = move_map(pending, targets, current)
    lists = topic_lists(moves)
    for topic, values in lists.items():
        longest = max(map(len, values.values()))
        if longest > MAX_VALUE_BYTES:
            raise CommandFailed(
                f"The list of throttled replicas of topic {topic} would have {longest} bytes, and "
                f"a value of a topic's configuration has at most {MAX_VALUE_BYTES}: reassign fewer "
                "partitions at once, or use `ballast run`, which names them in pieces"
            )
    await configs.topics(lists)
    for broker in moving_brokers(moves):
        await configs.broker(broker, rate_values(throttle))


async def _clear_throttles(
    configs: ConfigWrites,
    targets: Mapping[TopicPartition, tuple[int, ...]],
    cluster: ClusterView,
    say: Say,
) -> None:
    live = {broker.broker_id for broker in cluster.brokers}
    brokers = sorted(live.union(*targets.values()))
    say(f"Clearing broker-level throttles on broker{_plural(brokers)} {_ids(brokers)}")
    # Live ones first: one broker that is down must not leave the others throttled.
    for broker in sorted(brokers, key=lambda broker: (broker not in live, broker)):
        await configs.broker(broker, dict.fromkeys(BROKER_THROTTLES))
    topics = sorted({tp.topic for tp in targets})
    say(f"Clearing topic-level throttles on topic{_plural(topics)} {','.join(topics)}")
    await configs.topics({topic: dict.fromkeys(TOPIC_THROTTLES) for topic in topics})


def _verdict(
    tp: TopicPartition,
    target: tuple[int, ...],
    pending: Mapping[TopicPartition, ReplicaAssignment],
    cluster: ClusterView,
) -> str:
    if tp in pending:
        return f"Reassignment of partition {tp} is still in progress."
    view = cluster.partitions.get(tp)
    replicas = () if view is None else view.replicas
    if replicas == target:
        return f"Reassignment of partition {tp} is complete."
    return (
        f"There is no active reassignment of partition {tp}, but replica set is "
        f"{_ids(replicas)} rather than {_ids(target)}."
    )


def _by_partition(errors: Mapping[TopicPartition, RequestError]) -> str:
    return "\n".join(f"{tp}: {errors[tp].message}" for tp in sorted(errors))


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(str(broker) for broker in brokers)


def _plural(things: Collection[object]) -> str:
    return "" if len(things) == 1 else "s"
