"""Controlled shutdown: who is relieved of what, and what is refused."""

from uuid import UUID

import pytest

from ballast.controller.errors import RequestRefused
from ballast.controller.topics.new_topics import NewTopic
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster
from tests.fakes.metadata_store import describe_state

T0 = TopicPartition("t", 0)


async def start(
    *assignments: tuple[int, ...], isr: tuple[int, ...] | None = None
) -> ControllerCluster:
    cluster = ControllerCluster()
    cluster.start_broker(1, 2, 3)
    cluster.add_topic("t", *assignments, isr=isr)
    await cluster.fail_over()
    cluster.metadata.log.clear()
    return cluster


async def test_leaders_move_and_followers_leave() -> None:
    cluster = await start((1, 2, 3), (2, 1, 3))
    assert await cluster.controller.controlled_shutdown(1, -1) == frozenset()
    assert cluster.metadata.log == [
        "state t-0 leader=2 epoch=1 isr=[2, 3]",
        "state t-1 leader=2 epoch=1 isr=[2, 3]",
    ]


async def test_the_only_in_sync_replica_keeps_the_leadership() -> None:
    cluster = await start((1, 2), isr=(1,))
    assert await cluster.controller.controlled_shutdown(1, -1) == {T0}
    assert cluster.metadata.log == []
    cluster.metadata.change_isr(T0, 1, 2)
    assert await cluster.controller.controlled_shutdown(1, -1) == frozenset()
    assert describe_state(T0, cluster.state(T0)) == "state t-0 leader=2 epoch=1 isr=[2]"


async def test_single_replicas_are_not_counted() -> None:
    cluster = await start((1,))
    assert await cluster.controller.controlled_shutdown(1, -1) == frozenset()
    assert cluster.state(T0).leader == 1


async def test_topics_to_be_deleted_are_left_alone() -> None:
    cluster = await start((1, 2))
    await cluster.controller.delete_topics(["t"])
    epoch = cluster.state(T0).leader_epoch
    assert await cluster.controller.controlled_shutdown(1, -1) == frozenset()
    assert cluster.state(T0).leader_epoch == epoch


@pytest.mark.parametrize(
    ("broker_id", "broker_epoch", "error"),
    [(9, -1, "BROKER_NOT_AVAILABLE"), (1, 5, "STALE_BROKER_EPOCH"), (1, 999, "STALE_BROKER_EPOCH")],
)
async def test_refusals(broker_id: int, broker_epoch: int, error: str) -> None:
    cluster = await start((1, 2))
    with pytest.raises(RequestRefused) as refused:
        await cluster.controller.controlled_shutdown(broker_id, broker_epoch)
    assert refused.value.error == error
    assert cluster.controller.context.shutting_down == set()


async def test_a_broker_that_registered_a_moment_ago_is_known() -> None:
    cluster = await start((1, 2))
    cluster.start_broker(1)
    epoch = cluster.metadata.brokers[1].broker_epoch
    assert await cluster.controller.controlled_shutdown(1, epoch) == frozenset()
    assert cluster.controller.context.shutting_down == {1}


async def test_a_new_registration_ends_the_shutdown() -> None:
    cluster = await start((1, 2))
    await cluster.controller.controlled_shutdown(1, -1)
    cluster.start_broker(1)
    await cluster.brokers_changed()
    assert cluster.controller.context.shutting_down == set()
    await cluster.settle()
    assert set(cluster.state(T0).isr) == {1, 2}


async def test_nobody_who_leaves_is_elected_anew() -> None:
    cluster = await start((1, 2))
    await cluster.controller.controlled_shutdown(2, -1)
    new = NewTopic(topic="new", topic_id=UUID(int=1), assignment={0: (2, 3)})
    await cluster.controller.create_topics([new])
    state = cluster.state(TopicPartition("new", 0))
    assert (state.leader, state.isr) == (3, (3,))
