"""Stray replicas: they were removed from the assignment while this broker was unreachable.

A controller sends StopReplica for a removed replica, and retries while it is the controller. Its
successor does not know of the replica any more, because the assignment no longer names it. The
broker finds stray replicas itself when the new controller describes the cluster (KAFKA-13972,
KAFKA-1074).
"""

from collections.abc import Iterator, Mapping

from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.broker.following.replica_roles import ReplicaStop
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition


def find_strays(
    replicas: ReplicaManager, described: Mapping[TopicPartition, PartitionMetadata]
) -> Iterator[ReplicaStop]:
    """Yield the replicas here that are not needed according to ``described``.

    Neither assignment nor ISR may name the replica, in a leader epoch above the one that the
    replica knows. Then a controller removed it from the ISR after all target replicas had caught
    up, and no leader can add it again without a newer epoch. Call it only for a request of a
    controller that is not fenced.
    """
    broker_id = replicas.identity.broker_id
    for name, metadata in described.items():
        if broker_id in metadata.replicas or broker_id in metadata.isr:
            continue
        if replicas.log_dirs.get(name) is None and name not in replicas.missing:
            continue
        hosted = replicas.partitions.get(name)
        if hosted is None or hosted.leader_epoch < metadata.leader_epoch:
            yield ReplicaStop(name=name, leader_epoch=metadata.leader_epoch, delete=True)
