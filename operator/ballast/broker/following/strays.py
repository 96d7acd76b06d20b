"""Replicas that were taken away while this broker could not hear it.

A controller tells a removed replica's broker to delete it, and keeps trying for as long as it is
the controller; its successor does not know of it any more, because the assignment no longer names
the replica. The broker finds such replicas itself when the new controller describes the cluster
(KAFKA-13972, KAFKA-1074).
"""

from collections.abc import Iterator, Mapping

from ballast.broker.cluster.metadata_cache import PartitionMetadata
from ballast.broker.following.replica_roles import ReplicaStop
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.ids import TopicPartition


def find_strays(
    replicas: ReplicaManager, described: Mapping[TopicPartition, PartitionMetadata]
) -> Iterator[ReplicaStop]:
    """Yield the replicas here that the partitions as ``described`` do without.

    Both assignment and ISR must do without it, in a leader epoch above the one that the replica was
    last told of: then a controller took it out of the ISR after the whole target had caught up, and
    no leader can take it back in without telling it a newer epoch first. Call it only for what a
    controller that is not fenced has sent.
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
