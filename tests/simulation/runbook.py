"""What an operator does about partitions that wait for a disk, as ``docs/runbook.md`` says it."""

import asyncio

from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.protocol.messages.admin.elect_leaders import ElectLeadersRequest, TopicPartitions
from ballast.reassign.ports import ClusterUnavailable
from tests.simulation.cluster import SimulatedCluster
from tests.simulation.hosts import broker_name

PAUSE_S = 1.0
"""Between two looks, once no more faults come."""

UNCLEAN = 1

ADMIN_OPTIONS = AdminOptions(
    client_id="operator", request_timeout_s=3.0, connect_timeout_s=1.0, call_timeout_s=5.0
)


async def keep_partitions_led(cluster: SimulatedCluster) -> None:
    """Look again and again; to be run as a client."""
    admin = AdminClient(cluster.broker_addresses, ADMIN_OPTIONS)
    while True:
        give_disks_back(cluster)
        for partition in _never_begun(cluster):
            await _elect_uncleanly(cluster, admin, partition)
        await asyncio.sleep(PAUSE_S)


def give_disks_back(cluster: SimulatedCluster) -> None:
    """Give brokers back what partitions cannot do without."""
    for broker in cluster.lost_disks.stuck():
        if cluster.is_up(broker_name(broker)):
            _note(cluster, f"gives {broker} its disk back")
            cluster.give_disk_back(broker)


def _never_begun(cluster: SimulatedCluster) -> list[TopicPartition]:
    """Return the partitions without a leader whose ISR never had a log, so that nothing is lost.

    They were made while a broker that had lost its disk was registered still. A log that is in a
    directory that has failed is there still.
    """
    return [
        partition
        for partition, state in cluster.metadata.states.items()
        if state.leader == NO_LEADER
        and all(
            (broker := cluster.brokers.get(member)) is not None
            and partition in broker.replicas.missing
            and not cluster.lost_disks.knows(member, partition)
            and cluster.logs.directory_of(member, partition) is None
            for member in state.isr
        )
    ]


async def _elect_uncleanly(
    cluster: SimulatedCluster, admin: AdminClient, partition: TopicPartition
) -> None:
    _note(cluster, f"elects a leader of {partition} uncleanly")
    cluster.metadata.unclean.add(partition)
    request = ElectLeadersRequest(
        election_type=UNCLEAN,
        topic_partitions=(
            TopicPartitions(topic=partition.topic, partitions=(partition.partition,)),
        ),
    )
    try:
        await admin.connections.ask_controller(request, lambda response: {response.error_code})
    except ClusterUnavailable as error:
        _note(cluster, f"no election: {error}")


def _note(cluster: SimulatedCluster, text: str) -> None:
    cluster.loop.trace.add(cluster.loop.now, "operator", text)
