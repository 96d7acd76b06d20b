"""Which new topics are refused, and what the others look like."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from ballast.controller.errors import RequestRefused
from ballast.controller.state.options import ControllerOptions
from ballast.controller.topics.new_topics import NewTopic, plan_topic
from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.settings.controller_config import ControllerConfig
from ballast.model.topics import TopicAssignment

OPTIONS = ControllerOptions(config=ControllerConfig(num_partitions=2, default_replication_factor=3))


def plan(
    topic: str = "t", *, options: ControllerOptions = OPTIONS, **settings: Any
) -> TopicAssignment:
    endpoint = Endpoint(host="localhost", port=9092)
    return plan_topic(
        NewTopic(topic=topic, topic_id=UUID(int=1), **settings),
        existing={"taken", "a.b"},
        brokers=[RegisteredBroker(broker_id=b, endpoints=(endpoint,)) for b in (3, 1, 2)],
        options=options,
    )


def test_defaults_come_from_the_options() -> None:
    planned = plan()
    assert planned.topic_id == UUID(int=1)
    assert planned.partitions == {
        0: ReplicaAssignment.of(1, 2, 3),
        1: ReplicaAssignment.of(2, 3, 1),
    }


def test_start_and_shift_are_the_callers() -> None:
    planned = plan(num_partitions=1, replication_factor=2, start_index=4, shift=7)
    assert planned.partitions == {0: ReplicaAssignment.of(2, 1)}


@pytest.mark.parametrize(
    ("cordoned", "factor", "used"),
    [
        pytest.param({3}, 2, {1, 2}, id="left out"),
        pytest.param({2, 3}, 1, {1}, id="only one is open"),
        pytest.param({2, 3}, 2, {1, 2}, id="one more is needed: the lowest"),
        pytest.param({1, 2, 3}, 3, {1, 2, 3}, id="all are needed"),
        pytest.param({9}, 3, {1, 2, 3}, id="not alive"),
    ],
)
def test_cordoned_brokers_are_left_out_unless_too_few_are_left(
    cordoned: set[int], factor: int, used: set[int]
) -> None:
    options = ControllerOptions(is_cordoned=cordoned.__contains__)
    planned = plan(num_partitions=6, replication_factor=factor, options=options)
    assert {b for p in planned.partitions.values() for b in p.replicas} == used


def test_a_client_may_place_replicas_on_a_cordoned_broker() -> None:
    options = ControllerOptions(is_cordoned={3}.__contains__)
    assert plan(assignment={0: (3, 1)}, options=options).partitions == {
        0: ReplicaAssignment.of(3, 1)
    }


def test_manual_assignment() -> None:
    assert plan(assignment={1: (2, 1), 0: (3, 2)}).partitions == {
        0: ReplicaAssignment.of(3, 2),
        1: ReplicaAssignment.of(2, 1),
    }


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        pytest.param({"topic": "taken"}, "TOPIC_ALREADY_EXISTS", "already exists", id="taken"),
        pytest.param({"topic": "a b"}, "INVALID_TOPIC_EXCEPTION", "illegal", id="name"),
        pytest.param({"topic": "../x"}, "INVALID_TOPIC_EXCEPTION", "illegal", id="path"),
        pytest.param(
            {"topic": "a_b"}, "INVALID_TOPIC_EXCEPTION", "collides with existing topics: a.b",
            id="collision",
        ),
        pytest.param(
            {"num_partitions": 0}, "INVALID_PARTITIONS", "must be larger than 0", id="no partitions"
        ),
        pytest.param(
            {"replication_factor": 0}, "INVALID_REPLICATION_FACTOR", "must be larger than 0",
            id="no replicas",
        ),
        pytest.param(
            {"replication_factor": 4}, "INVALID_REPLICATION_FACTOR",
            "Replication factor: 4 larger than available brokers: 3.", id="too many replicas",
        ),
        pytest.param(
            {"assignment": {0: (1,)}, "num_partitions": 1}, "INVALID_REQUEST", "Both",
            id="both ways",
        ),
        pytest.param(
            {"assignment": {0: (1,), 2: (2,)}}, "INVALID_REPLICA_ASSIGNMENT",
            "consecutive 0-based", id="gap",
        ),
        pytest.param(
            {"assignment": {0: (1, 1)}}, "INVALID_REPLICA_ASSIGNMENT", "Duplicate", id="twice"
        ),
        pytest.param(
            {"assignment": {0: ()}}, "INVALID_REPLICA_ASSIGNMENT", "no replicas", id="empty"
        ),
        pytest.param(
            {"assignment": {0: (1, 2), 1: (1,)}}, "INVALID_REPLICA_ASSIGNMENT",
            "same number of replicas", id="uneven",
        ),
        pytest.param(
            {"assignment": {0: (1, 8)}}, "INVALID_REPLICA_ASSIGNMENT", "Unknown broker",
            id="unknown",
        ),
    ],
)  # fmt: skip
def test_refusals(settings: Mapping[str, Any], error: str, message: str) -> None:
    with pytest.raises(RequestRefused, match=message) as refused:
        plan(**settings)
    assert refused.value.error == error
