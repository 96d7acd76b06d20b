"""Which growths are refused, and where new partitions go."""

from typing import Any

import pytest

from ballast.controller.errors import RequestRefused
from ballast.controller.state.options import ControllerOptions
from ballast.controller.topics.topic_growth import TopicGrowth, plan_growth
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.topics import TopicAssignment

of = ReplicaAssignment.of
KNOWN = {0: of(2, 3), 1: of(3, 4)}


def brokers(*ids: int, racks: dict[int, str] | None = None) -> list[RegisteredBroker]:
    endpoints = (Endpoint(host="localhost", port=9092),)
    return [
        RegisteredBroker(broker_id=b, endpoints=endpoints, rack=racks[b] if racks else None)
        for b in ids
    ]


def plan(
    count: int,
    *placed: tuple[int, ...],
    known: dict[int, ReplicaAssignment] | None = KNOWN,
    **settings: Any,
) -> dict[int, ReplicaAssignment]:
    topic = TopicAssignment(topic="t", topic_id=None, partitions=known or {})
    return plan_growth(
        TopicGrowth(topic="t", count=count, assignments=placed or None),
        topic if known is not None else None,
        **{
            "queued_for_deletion": False,
            "brokers": brokers(4, 1, 3, 2),
            "options": ControllerOptions(),
            **settings,
        },
    )


def test_new_partitions_go_on_where_partition_0_began() -> None:
    """As Kafka's AdminUtils from start 1 and shift 1, over brokers 1 to 4, from partition 2 on."""
    assert plan(6) == {2: of(4, 2), 3: of(1, 3), 4: of(2, 1), 5: of(3, 2)}


def test_a_first_broker_that_is_gone_gives_way_to_the_next() -> None:
    assert plan(3, brokers=brokers(1, 3, 4)) == {2: of(1, 4)}
    assert plan(3, known={0: of(9), 1: of(1)}, brokers=brokers(1, 3)) == {2: of(1)}


def test_racks_are_kept_apart() -> None:
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    planned = plan(10, brokers=brokers(1, 2, 3, 4, racks=racks))
    assert len(planned) == 8
    assert all(len({racks[b] for b in p.replicas}) == 2 for p in planned.values())


def test_brokers_that_are_to_go_get_no_new_partitions() -> None:
    planned = plan(8, options=ControllerOptions(is_cordoned={2}.__contains__))
    assert {b for p in planned.values() for b in p.replicas} == {1, 3, 4}


def test_the_client_may_place_them() -> None:
    assert plan(4, (1, 4), (4, 1)) == {2: of(1, 4), 3: of(4, 1)}


@pytest.mark.parametrize(
    ("count", "placed", "settings", "error", "reason"),
    [
        (3, (), {"known": None}, "UNKNOWN_TOPIC_OR_PARTITION", "'t' does not exist"),
        (3, (), {"known": {}}, "UNKNOWN_TOPIC_OR_PARTITION", "'t' does not exist"),
        (3, (), {"queued_for_deletion": True}, "INVALID_TOPIC_EXCEPTION", "queued for deletion"),
        (
            3,
            (),
            {"known": {0: of(1), 1: of(1).reassign_to([2])}},
            "REASSIGNMENT_IN_PROGRESS",
            "in progress for the topic 't'",
        ),
        (1, (), {}, "INVALID_PARTITIONS", "currently has 2 partitions, which is higher than the"),
        (-1, (), {}, "INVALID_PARTITIONS", "higher than the requested -1"),
        (2, (), {}, "INVALID_PARTITIONS", "already has 2 partitions"),
        (3, (), {"brokers": brokers(2)}, "INVALID_REPLICATION_FACTOR", "larger than available"),
        (3, ((1, 9),), {}, "INVALID_REPLICA_ASSIGNMENT", "Unknown broker(s)"),
        (4, ((1, 2),), {}, "INVALID_REPLICA_ASSIGNMENT", "by 2 but 1 assignments provided"),
        (3, ((1, 2), (2, 1)), {}, "INVALID_REPLICA_ASSIGNMENT", "by 1 but 2 assignments provided"),
        (3, ((),), {}, "INVALID_REPLICA_ASSIGNMENT", "replication factor of 0 for partition id 2"),
        (3, ((1, 1),), {}, "INVALID_REPLICA_ASSIGNMENT", "Duplicate brokers not allowed"),
        (3, ((1,),), {}, "INVALID_REPLICA_ASSIGNMENT", "has 2 while partition 2 has 1"),
    ],
)
def test_refusals(
    count: int, placed: tuple[tuple[int, ...]], settings: dict[str, Any], error: str, reason: str
) -> None:
    with pytest.raises(RequestRefused) as caught:
        plan(count, *placed, **settings)
    assert caught.value.error == error
    assert reason in caught.value.message
