from uuid import UUID

import pytest

from ballast.broker.following.replica_roles import LeadershipChange, ReplicaStop
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.protocol.error_codes import ErrorCode
from tests.unit.broker.broker_cluster import P0, TOPIC_ID, Cluster, batch, simulate


def change(name: TopicPartition = P0, **fields: object) -> LeadershipChange:
    state = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1,), controller_epoch=1)
    values: dict[str, object] = {
        "name": name,
        "topic_id": TOPIC_ID,
        "state": state,
        "assignment": ReplicaAssignment(replicas=(1,)),
        "is_new": True,
    }
    return LeadershipChange(**{**values, **fields})  # type: ignore[arg-type]


def epoch(leader_epoch: int) -> LeaderAndIsr:
    return LeaderAndIsr(leader=1, leader_epoch=leader_epoch, isr=(1,), controller_epoch=1)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (change(TopicPartition("../escape", 0)), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (change(TopicPartition("", 0)), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (change(TopicPartition("t", -1)), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (
            change(TopicPartition("t", 0), assignment=ReplicaAssignment(replicas=(2, 3))),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ),
        (change(state=epoch(4)), ErrorCode.STALE_CONTROLLER_EPOCH),
        (change(state=epoch(5)), ErrorCode.STALE_CONTROLLER_EPOCH),
        (change(state=epoch(6), topic_id=UUID(int=9)), ErrorCode.INCONSISTENT_TOPIC_ID),
        (change(state=epoch(6), topic_id=None), ErrorCode.NONE),
    ],
)
def test_what_is_taken(bad: LeadershipChange, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        handler = cluster.brokers[1].context.replica_roles
        assert handler.become_leader_or_follower([change()], {}) == {P0: ErrorCode.NONE}
        before = cluster.disks[1].names("/logs")
        assert handler.become_leader_or_follower([bad], {}) == {bad.name: code}
        assert cluster.disks[1].names("/logs") == before

    simulate(main)


def test_a_topic_made_anew_does_not_get_the_old_ones_records() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        await cluster.stop(1)
        await cluster.start(1)
        handler = cluster.brokers[1].context.replica_roles
        anew = change(topic_id=UUID(int=9))
        assert handler.become_leader_or_follower([anew], {}) == {
            P0: ErrorCode.INCONSISTENT_TOPIC_ID
        }

    simulate(main)


@pytest.mark.parametrize(
    ("leader_epoch", "code"),
    [
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (5, ErrorCode.NONE),
        (6, ErrorCode.NONE),
        (-1, ErrorCode.NONE),
        (-2, ErrorCode.NONE),
    ],
)
def test_which_stops_are_taken(leader_epoch: int, code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        handler = cluster.brokers[1].context.replica_roles
        handler.become_leader_or_follower([change()], {})
        stop = ReplicaStop(name=P0, leader_epoch=leader_epoch, delete=True)
        assert handler.stop_replicas([stop]) == {P0: code}
        hosted = P0 in cluster.brokers[1].replicas.partitions
        assert hosted is (code != ErrorCode.NONE)
        assert cluster.disks[1].exists("/logs/orders-0") is hosted

    simulate(main)


def test_a_stopped_replica_keeps_its_data_and_leads_no_more() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.produce(1, P0, batch(b"a"))
        assert await cluster.stop_replica(1, P0, 0, delete=False) == 0
        answer = await cluster.produce(1, P0, batch(b"b"))
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        await cluster.lead(P0, 1, [1])
        assert (await cluster.produce(1, P0, batch(b"b"))).base_offset == 1

    simulate(main)


def test_a_replica_without_a_role_is_deleted_too() -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.stop(1)
        await cluster.start(1)
        assert cluster.disks[1].exists("/logs/orders-0")
        assert await cluster.stop_replica(1, P0, -2, delete=True) == 0
        assert not cluster.disks[1].exists("/logs/orders-0")
        stop = ReplicaStop(name=TopicPartition("../x", 0), leader_epoch=-1, delete=True)
        handler = cluster.brokers[1].context.replica_roles
        assert handler.stop_replicas([stop]) == {stop.name: ErrorCode.INVALID_TOPIC_EXCEPTION}

    simulate(main)


def test_configs_of_a_deleted_topic_are_read_anew_for_its_namesake() -> None:
    async def main(cluster: Cluster) -> None:
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"max.message.bytes":"99"}}')
        await cluster.start(1)
        await cluster.lead(P0, 1, [1])
        await cluster.stop_replica(1, P0, -2, delete=True)
        cluster.zookeeper.put("/config/topics/orders", b'{"config":{"max.message.bytes":"77"}}')
        await cluster.lead(P0, 1, [1])
        assert cluster.brokers[1].replicas.partitions[P0].log.config.max_message_bytes == 77

    simulate(main)
