"""Where replicas stand on their way between log directories."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.log_dir_moves import (
    log_dir_cancellations,
    log_dir_orders,
    misplaced_replicas,
    state_within,
    unresponsive_brokers,
)
from ballast.reassign.plan.lines import LogDirMove
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.plan.progress import MoveState
from ballast.reassign.ports import ReplicaLogDirs, RequestError
from tests.unit.reassign.builders import T0, observation

MOVE = PlannedMove(
    topic_partition=T0,
    origin=(1, 2),
    target=(1, 2),
    log_dirs=(LogDirMove(1, "/a", "/b"), LogDirMove(2, "/a", "/b")),
)
ERROR = RequestError(error="KAFKA_STORAGE_ERROR", message="offline")


def lying(*places: tuple[int, str | None, str | None]) -> Observation:
    """Return a cluster with T0 in directories: broker, where it is, where it goes."""
    found: Mapping[int, Mapping[TopicPartition, ReplicaLogDirs]] = {
        broker: {T0: ReplicaLogDirs(current=current, future=future)}
        for broker, current, future in places
    }
    return replace(observation(), log_dirs=found)


@pytest.mark.parametrize(
    ("places", "transient", "state"),
    [
        ([(1, "/b", None), (2, "/b", None)], TransientState(), MoveState.COMPLETED),
        ([(1, "/b", None), (2, "/a", "/b")], TransientState(), MoveState.IN_PROGRESS),
        ([(1, "/a", None), (2, "/a", "/b")], TransientState(), MoveState.PENDING),
        ([(1, "/b", "/a"), (2, "/b", None)], TransientState(), MoveState.PENDING),
        ([(1, "/b", None)], TransientState(), MoveState.BLOCKED),
        ([(1, "/a", None)], TransientState(), MoveState.PENDING),
        (
            [(1, "/a", None), (2, "/a", None)],
            TransientState(refusals={T0: ERROR}),
            MoveState.BLOCKED,
        ),
        (
            [(1, "/a", None), (2, "/a", None)],
            TransientState(failures={T0: ERROR}),
            MoveState.FAILED,
        ),
        (
            [(1, "/a", None), (2, "/a", None)],
            TransientState(recently_submitted=frozenset({T0})),
            MoveState.IN_PROGRESS,
        ),
    ],
    ids=[
        "there",
        "copied",
        "to be ordered",
        "going elsewhere",
        "one silent",
        "one silent, one to be ordered",
        "refused",
        "failed",
        "just ordered",
    ],
)
def test_the_state_of_a_move(
    places: list[tuple[int, str | None, str | None]], transient: TransientState, state: MoveState
) -> None:
    assert state_within(MOVE, lying(*places), transient) is state


def test_what_is_not_under_way_is_ordered() -> None:
    seen = lying((1, "/a", "/b"), (2, "/a", "/c"))
    assert misplaced_replicas(MOVE, seen) == {1: "/b", 2: "/b"}
    assert log_dir_orders([MOVE], seen) == {2: {T0: "/b"}}


def test_the_directory_of_a_replica_that_is_to_come_is_told() -> None:
    coming = PlannedMove(
        topic_partition=T0, origin=(1,), target=(1, 4), log_dirs=(LogDirMove(4, None, "/b"),)
    )
    assert log_dir_orders([coming], replace(observation(), log_dirs={4: {}})) == {4: {T0: "/b"}}
    assert coming.moving_within == ()
    assert coming.inverse().wanted_log_dirs == {}


@pytest.mark.parametrize(
    ("future", "ends"),
    [("/b", {1: {T0: "/a"}}), ("/a", {1: {T0: "/a"}}), ("/c", {}), (None, {})],
    ids=["ours", "our way back", "another's", "none"],
)
def test_only_our_copies_are_taken_back(future: str | None, ends: object) -> None:
    assert log_dir_cancellations(Plan(moves=(MOVE,)), lying((1, "/a", future))) == ends


def test_brokers_that_do_not_tell() -> None:
    assert unresponsive_brokers(Plan(moves=(MOVE,)), lying((1, "/b", None))) == (2,)
