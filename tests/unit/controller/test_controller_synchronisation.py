"""How far news of each event goes (article 004 §3.1): who gets which request, in which order.

One partition t-0 on brokers 1 (leader) and 2; broker 3 holds u-0 together with 4; broker 5 holds
nothing. The rules behind the table:

- a change of leader, ISR, replicas or epochs is LeaderAndIsr to the replicas concerned, and
  UpdateMetadata of that partition to every broker;
- a replica that is to stop gets StopReplica, after both;
- a change of brokers alone is UpdateMetadata without partitions (``live``) to every broker.
"""

from collections.abc import Awaitable, Callable

import pytest

from ballast.controller.machines.elections import ElectionType
from ballast.controller.state.control_requests import (
    ControlRequest,
    LeaderAndIsrControlRequest,
    StopReplicaControlRequest,
    UpdateMetadataControlRequest,
)
from ballast.controller.state.events import (
    AutoPreferredReplicaLeaderElection,
    ConfigChange,
    IsrChangeNotification,
    LogDirEventNotification,
    PartitionModifications,
    TopicChange,
)
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.topics import TopicAssignment
from tests.fakes.controller_cluster import ControllerCluster

T0 = TopicPartition("t", 0)
LEAD, NEW, TOLD, ALL, LIVE = "LeaderAndIsr", "LeaderAndIsr new", "UpdateMetadata", "all", "live"
STOP, DELETE = "StopReplica", "StopReplica delete"

Event = Callable[[ControllerCluster], Awaitable[object]]
Table = dict[int, list[str]]


def described(request: ControlRequest) -> str:
    """Return the kind of a request; every one here is of t-0 alone, of nothing, or of all."""
    match request:
        case LeaderAndIsrControlRequest():
            return NEW if any(entry.is_new for entry in request.entries) else LEAD
        case StopReplicaControlRequest():
            return DELETE if any(entry.delete for entry in request.entries) else STOP
        case UpdateMetadataControlRequest():
            return {0: LIVE, 1: TOLD}.get(len(request.entries), ALL)


async def broker_starts(cluster: ControllerCluster) -> None:
    cluster.start_broker(6)
    await cluster.brokers_changed()


async def replica_starts(cluster: ControllerCluster) -> None:
    cluster.stop_broker(2)
    await cluster.brokers_changed()
    await cluster.settle()
    cluster.start_broker(2)
    cluster.channels.take_all()
    await cluster.brokers_changed()


async def leader_fails(cluster: ControllerCluster) -> None:
    cluster.stop_broker(1)
    await cluster.brokers_changed()


async def follower_fails(cluster: ControllerCluster) -> None:
    cluster.stop_broker(2)
    await cluster.brokers_changed()


async def idle_broker_fails(cluster: ControllerCluster) -> None:
    cluster.stop_broker(5)
    await cluster.brokers_changed()


async def broker_is_modified(cluster: ControllerCluster) -> None:
    known = cluster.metadata.brokers[5]
    cluster.metadata.brokers[5] = type(known)(
        broker_id=5, endpoints=known.endpoints, rack="r", broker_epoch=known.broker_epoch
    )
    await cluster.brokers_changed()


async def leader_shuts_down(cluster: ControllerCluster) -> None:
    await cluster.controller.controlled_shutdown(1, -1)


async def follower_shuts_down(cluster: ControllerCluster) -> None:
    await cluster.controller.controlled_shutdown(2, -1)


async def isr_changes(cluster: ControllerCluster) -> None:
    cluster.metadata.change_isr(T0, 1)
    await cluster.handle(IsrChangeNotification())


async def isr_changes_of_nothing_known(cluster: ControllerCluster) -> None:
    cluster.metadata.isr_notifications["x"] = frozenset({TopicPartition("gone", 0)})
    await cluster.handle(IsrChangeNotification())


async def log_dir_fails(cluster: ControllerCluster) -> None:
    cluster.metadata.log_dir_events["x"] = frozenset({2})
    await cluster.handle(LogDirEventNotification())


async def leader_moves_to_the_preferred_replica(cluster: ControllerCluster) -> None:
    await stray(cluster)
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, [T0])


async def leader_is_given_back(cluster: ControllerCluster) -> None:
    await stray(cluster)
    await cluster.handle(AutoPreferredReplicaLeaderElection())


async def stray(cluster: ControllerCluster) -> None:
    """Let broker 2 lead t-0, with both replicas in sync."""
    cluster.stop_broker(1)
    await cluster.brokers_changed()
    cluster.start_broker(1)
    await cluster.brokers_changed()
    await cluster.settle()
    assert cluster.state(T0).leader == 2
    cluster.channels.take_all()


async def election_of_who_leads_already(cluster: ControllerCluster) -> None:
    await cluster.controller.elect_leaders(ElectionType.PREFERRED, [T0])


async def config_changes(cluster: ControllerCluster) -> None:
    cluster.metadata.config_changes = ["t", None]
    await cluster.handle(ConfigChange())


async def topic_appears(cluster: ControllerCluster) -> None:
    cluster.metadata.put_topic(topic("v", (3, 5)))
    await cluster.handle(TopicChange())


async def topic_grows(cluster: ControllerCluster) -> None:
    cluster.metadata.topics["t"] = topic("t", (1, 2), (3, 5))
    await cluster.handle(PartitionModifications("t"))


def topic(name: str, *assignments: tuple[int, ...]) -> TopicAssignment:
    partitions = {n: ReplicaAssignment.of(*replicas) for n, replicas in enumerate(assignments)}
    return TopicAssignment(topic=name, topic_id=None, partitions=partitions)


async def topic_is_deleted(cluster: ControllerCluster) -> None:
    await cluster.controller.delete_topics(["t"])


async def reassignment_begins(cluster: ControllerCluster) -> None:
    await cluster.controller.alter_partition_reassignments({T0: (2, 3)})


async def reassignment_ends(cluster: ControllerCluster) -> None:
    await reassignment_begins(cluster)
    cluster.channels.take_all()
    await cluster.isr_changed(T0, 1, 2, 3)


async def reassignment_is_cancelled(cluster: ControllerCluster) -> None:
    await reassignment_begins(cluster)
    cluster.channels.take_all()
    await cluster.controller.alter_partition_reassignments({T0: None})


async def replicas_change_their_order(cluster: ControllerCluster) -> None:
    await cluster.controller.alter_partition_reassignments({T0: (2, 1)})


async def controller_fails_over(cluster: ControllerCluster) -> None:
    await cluster.fail_over()


def to(everyone: list[str], **others: list[str]) -> Table:
    """Return a table in which brokers 1 to 5 get ``everyone``, but for the ``others``."""
    return dict.fromkeys(range(1, 6), everyone) | {int(k[1:]): v for k, v in others.items()}


MOVE = [LEAD, TOLD, TOLD]

SCOPE: list[tuple[Event, Table]] = [
    (broker_starts, to([LIVE], b6=[ALL])),
    (replica_starts, to([LIVE, TOLD], b2=[ALL, LEAD, TOLD])),
    (leader_fails, to([TOLD, TOLD], b1=[], b2=[LEAD, TOLD, LEAD, TOLD])),
    (follower_fails, to([TOLD, LIVE], b1=[LEAD, TOLD, LIVE], b2=[])),
    (idle_broker_fails, to([LIVE], b5=[])),
    (broker_is_modified, to([LIVE])),
    (leader_shuts_down, to([TOLD], b1=[LEAD, TOLD], b2=[LEAD, TOLD])),
    (follower_shuts_down, to([TOLD], b1=[LEAD, TOLD], b2=[TOLD, STOP])),
    (isr_changes, to([TOLD])),
    (isr_changes_of_nothing_known, to([])),
    (log_dir_fails, to([TOLD], b2=[LEAD, TOLD])),
    (leader_moves_to_the_preferred_replica, to([TOLD], b1=[LEAD, TOLD], b2=[LEAD, TOLD])),
    (leader_is_given_back, to([TOLD], b1=[LEAD, TOLD], b2=[LEAD, TOLD])),
    (election_of_who_leads_already, to([])),
    (config_changes, to([])),
    (topic_appears, to([TOLD], b3=[NEW, TOLD], b5=[NEW, TOLD])),
    (topic_grows, to([TOLD], b3=[NEW, TOLD], b5=[NEW, TOLD])),
    (topic_is_deleted, to([TOLD], b1=[TOLD, STOP, DELETE], b2=[TOLD, STOP, DELETE])),
    (
        reassignment_begins,
        to([TOLD, TOLD], b1=MOVE, b2=MOVE, b3=[NEW, TOLD, NEW, TOLD]),
    ),
    (
        reassignment_ends,
        to(
            [TOLD] * 4,
            b1=[TOLD, TOLD, TOLD, STOP, DELETE, TOLD],
            b2=[TOLD, LEAD, TOLD, LEAD, TOLD, TOLD],
            b3=[TOLD, LEAD, TOLD, LEAD, TOLD, TOLD],
        ),
    ),
    (
        reassignment_is_cancelled,
        to(
            [TOLD] * 3,
            b1=[LEAD, TOLD, LEAD, TOLD, TOLD],
            b2=[LEAD, TOLD, LEAD, TOLD, TOLD],
            b3=[TOLD, STOP, DELETE, TOLD, TOLD],
        ),
    ),
    (replicas_change_their_order, to([TOLD, TOLD], b1=MOVE, b2=MOVE)),
    (controller_fails_over, to([LIVE, LEAD, ALL], b5=[LIVE, ALL])),
]


@pytest.mark.parametrize(("event", "scope"), SCOPE, ids=[event.__name__ for event, _ in SCOPE])
async def test_scope(event: Event, scope: Table) -> None:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3, 4, 5)
    cluster.add_topic("t", (1, 2))
    cluster.add_topic("u", (3, 4))
    await cluster.fail_over()
    await cluster.settle()
    await event(cluster)
    sent = {
        broker_id: [described(request) for request in commands]
        for broker_id, commands in cluster.channels.take_all().items()
    }
    assert sent == {broker_id: sent_ for broker_id, sent_ in scope.items() if broker_id in sent}
    assert all(not scope[broker_id] for broker_id in scope.keys() - sent.keys())
