"""``ballast plan snapshot``: a running cluster as ``ballast-snapshot/v1``, by Kafka's admin API.

What is being reassigned stands where it will be when that has ended. Sizes are those of the
leaders' logs, or of the largest replica where the leader's is not known.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from ballast.commands.plan_files import FileUnusable, write_file
from ballast.model.ids import TopicPartition
from ballast.net.admin import AdminClient
from ballast.net.cluster_connections import AdminOptions, parse_bootstrap_servers
from ballast.planner.snapshot_entries import BrokerEntry, TopicEntry
from ballast.planner.snapshot_lines import write_snapshot
from ballast.reassign.ports import (
    BrokerUnavailable,
    ClusterAdmin,
    ClusterUnavailable,
    ClusterView,
    PartitionView,
    ReplicaSize,
)

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_INVALID = 2

_ADMIN_OPTIONS = AdminOptions(client_id="ballast-plan")

Placed = Mapping[TopicPartition, tuple[int, ...]]
Sizes = Mapping[int, Mapping[TopicPartition, ReplicaSize]]
"""By broker."""


def main(*, bootstrap_server: str, out: Path) -> int:
    """Run the command; return 0, 1 when the cluster does not answer, 2 when the input is wrong."""
    try:
        servers = parse_bootstrap_servers(bootstrap_server)
    except ValueError as error:
        sys.stderr.write(f"--bootstrap-server: {error}\n")
        return EXIT_INVALID

    async def connected() -> int:
        admin = AdminClient(servers, _ADMIN_OPTIONS)
        try:
            return await snapshot(admin, out, sys.stdout, sys.stderr)
        finally:
            await admin.close()

    return asyncio.run(connected())


async def snapshot(admin: ClusterAdmin, path: Path, out: TextIO, errors: TextIO) -> int:
    """Write a cluster's snapshot; return the exit code."""
    try:
        pending = dict(await admin.list_reassignments())
        view = await admin.describe_cluster()
        # Once more: what began between the two is seen with all its replicas, old and new.
        pending |= await admin.list_reassignments()
        placed = {tp: seen.replicas for tp, seen in view.partitions.items()}
        placed |= {tp: move.target_replicas for tp, move in pending.items() if tp in placed}
        sizes = await _sizes(admin, view, errors)
        write_file(path, write_snapshot(_brokers(view, sizes), _topics(view, placed, sizes)))
    except ClusterUnavailable as error:
        errors.write(f"the cluster does not answer: {error}\n")
        return EXIT_FAILED
    except FileUnusable as error:
        errors.write(f"{error}\n")
        return EXIT_INVALID
    out.write(f"{len(view.brokers)} brokers, {len(placed)} partitions: {path}\n")
    return EXIT_DONE


async def _sizes(admin: ClusterAdmin, view: ClusterView, errors: TextIO) -> Sizes:
    """Return the sizes of each broker's replicas; one that does not answer is told of."""
    held: dict[int, dict[str, list[int]]] = {}
    for tp, seen in view.partitions.items():
        for broker in seen.replicas:
            held.setdefault(broker, {}).setdefault(tp.topic, []).append(tp.partition)
    sizes: dict[int, Mapping[TopicPartition, ReplicaSize]] = {}
    for live in view.brokers:
        try:
            sizes[live.broker_id] = await admin.replica_sizes(
                live.broker_id, held.get(live.broker_id, {})
            )
        except BrokerUnavailable as error:
            errors.write(f"sizes on broker {live.broker_id} are not known: {error}\n")
    return sizes


def _brokers(view: ClusterView, sizes: Sizes) -> list[BrokerEntry]:
    return [
        BrokerEntry(
            id=broker.broker_id,
            rack=broker.rack,
            log_dirs=tuple(
                sorted({size.log_dir for size in sizes.get(broker.broker_id, {}).values()})
            ),
        )
        for broker in sorted(view.brokers, key=lambda broker: broker.broker_id)
    ]


def _topics(view: ClusterView, placed: Placed, sizes: Sizes) -> Iterator[TopicEntry]:
    """Yield the topics; one that is not shown whole is just being made, or deleted."""
    topics: dict[str, dict[int, PartitionView]] = {}
    for tp in sorted(view.partitions):
        topics.setdefault(tp.topic, {})[tp.partition] = view.partitions[tp]
    for topic, partitions in topics.items():
        if max(partitions) != len(partitions) - 1:
            continue
        seen = list(partitions.values())
        yield TopicEntry(
            topic=topic,
            replicas=[list(placed[one.topic_partition]) for one in seen],
            bytes=[_size(one, sizes) for one in seen],
            leaders=[one.leader for one in seen],
            log_dirs=_log_dirs(seen, placed, sizes),
        )


def _size(seen: PartitionView, sizes: Sizes) -> int:
    known = {
        broker: sizes[broker][seen.topic_partition].size_bytes
        for broker in seen.replicas
        if seen.topic_partition in sizes.get(broker, {})
    }
    return known.get(seen.leader, max(known.values(), default=0))


def _log_dirs(seen: list[PartitionView], placed: Placed, sizes: Sizes) -> list[list[str]] | None:
    """Return where each replica is on its broker; None unless that is known of all."""
    rows = [
        [
            size.log_dir
            for broker in placed[one.topic_partition]
            if (size := sizes.get(broker, {}).get(one.topic_partition)) is not None
        ]
        for one in seen
    ]
    whole = zip(rows, seen, strict=True)
    if any(len(row) != len(placed[one.topic_partition]) for row, one in whole):
        return None
    return rows
