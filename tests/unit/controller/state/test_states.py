"""The tables of valid previous states, written out a second time as Kafka documents them."""

from ballast.controller.state.states import (
    VALID_PREVIOUS_PARTITION_STATES,
    VALID_PREVIOUS_REPLICA_STATES,
    PartitionState,
    Replica,
    ReplicaState,
)
from ballast.model.ids import TopicPartition


def test_partition_table() -> None:
    table = {str(to): sorted(froms) for to, froms in VALID_PREVIOUS_PARTITION_STATES.items()}
    living = ["NewPartition", "OfflinePartition", "OnlinePartition"]
    assert table == {
        "NewPartition": ["NonExistentPartition"],
        "OnlinePartition": living,
        "OfflinePartition": living,
        "NonExistentPartition": ["OfflinePartition"],
    }


def test_replica_table() -> None:
    table = {str(to): sorted(froms) for to, froms in VALID_PREVIOUS_REPLICA_STATES.items()}
    living = ["NewReplica", "OfflineReplica", "OnlineReplica", "ReplicaDeletionIneligible"]
    assert table == {
        "NewReplica": ["NonExistentReplica"],
        "OnlineReplica": living,
        "OfflineReplica": living,
        "ReplicaDeletionStarted": ["OfflineReplica"],
        "ReplicaDeletionSuccessful": ["ReplicaDeletionStarted"],
        "ReplicaDeletionIneligible": ["OfflineReplica", "ReplicaDeletionStarted"],
        "NonExistentReplica": ["ReplicaDeletionSuccessful"],
    }


def test_every_state_can_be_reached() -> None:
    assert VALID_PREVIOUS_PARTITION_STATES.keys() == set(PartitionState)
    assert VALID_PREVIOUS_REPLICA_STATES.keys() == set(ReplicaState)


def test_replicas_are_ordered_by_partition_then_broker() -> None:
    t0, t1 = TopicPartition("t", 0), TopicPartition("t", 1)
    in_order = [Replica(t0, 1), Replica(t0, 2), Replica(t1, 1)]
    assert sorted([in_order[2], in_order[0], in_order[1]]) == in_order
    assert str(Replica(t0, 2)) == "t-0 on 2"
