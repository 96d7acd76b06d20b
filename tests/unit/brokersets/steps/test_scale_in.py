from dataclasses import replace
from typing import Any

import pytest

from ballast.brokersets.observation.observation import (
    Cluster,
    PendingChange,
    Purpose,
    ReassignmentView,
)
from ballast.brokersets.observation.partition_counts import PartitionCounts, count_partitions
from ballast.brokersets.steps.decision_input import PLAN_RETRY_MS, TransientState
from ballast.brokersets.steps.scale_in import (
    MAX_FINISHED,
    RETRY_AFTER_FAILURE_MS,
    RETRY_AFTER_SUCCESS_MS,
    ScaleInPlan,
    plan_scale_in,
)
from ballast.brokersets.steps.steps import (
    CreateReassignment,
    DeleteReassignment,
    WithdrawReassignment,
)
from tests.unit.brokersets.builders import (
    FULL,
    HEALTHY,
    NOW_MS,
    Placement,
    broker_set,
    cluster,
    decision_input,
    drain,
    observation,
    stateful_set,
)

ON_3: Placement = ((3, 0, 1), (3, 0, 1))
FOUR = cluster(FULL, ON_3, live=range(4))
EMPTY_3 = cluster(FULL, live=range(4))
REFUSE: dict[str, Any] = {"scaleDown": {"policy": "Refuse"}}
FORCE: dict[str, Any] = {"scaleDown": {"policy": "Force"}}


def scaling(
    seen: Cluster | None,
    *reassignments: ReassignmentView,
    current: int | None = 4,
    transient: TransientState | None = None,
    **fields: Any,
) -> ScaleInPlan:
    """Return what becomes of a set that has ``current`` pods and shall have three."""
    given = decision_input(
        broker_set(**fields),
        observation(
            cluster=seen,
            stateful_set=None if current is None else stateful_set(replicas=current),
            reassignments=reassignments,
        ),
        transient=transient or TransientState(),
    )
    return plan_scale_in(given, PartitionCounts() if seen is None else count_partitions(seen))


def finished(state: str, ago_ms: int, *ids: int, name: str = "prod-drain-3") -> ReassignmentView:
    return drain(name, *(ids or (3,)), state=state, is_final=True, completion_ms=NOW_MS - ago_ms)


CREATE_3 = CreateReassignment(
    name="prod-drain-3",
    purpose=Purpose.DRAIN,
    broker_ids=(3,),
    excluded=frozenset({3}),
)


@pytest.mark.parametrize(
    ("given", "replicas", "blocked"),
    [
        pytest.param({"seen": None, "current": None}, 3, None, id="made at its size"),
        pytest.param({"seen": HEALTHY, "current": 3}, 3, None, id="at rest"),
        pytest.param({"seen": HEALTHY, "current": 2}, 3, None, id="out: at once"),
        pytest.param({"seen": None, "current": 2}, 3, None, id="out: whatever is seen"),
        pytest.param({"seen": FOUR}, 4, "Draining", id="in: it holds replicas"),
        pytest.param({"seen": EMPTY_3}, 3, None, id="in: it is empty"),
        pytest.param({"seen": None}, 4, "ClusterUnknown", id="in: is unknown"),
        pytest.param(
            {"seen": cluster(FULL, live=range(4), pending={0: PendingChange(adding=(3,))})},
            4,
            "Draining",
            id="in: a replica is on its way to it",
        ),
        pytest.param({"seen": FOUR, "current": 6}, 4, "Draining", id="in: from the top, in part"),
        pytest.param(
            {"seen": cluster(FULL, ((5, 0), (5, 0)), live=range(6)), "current": 6},
            6,
            "Draining",
            id="in: the highest holds, the lower wait for it",
        ),
        pytest.param({"seen": FOUR, **REFUSE}, 4, "BrokersHoldReplicas", id="refused"),
        pytest.param({"seen": EMPTY_3, **REFUSE}, 3, None, id="refused until it is empty"),
        pytest.param({"seen": FOUR, **FORCE}, 3, None, id="forced"),
        pytest.param({"seen": None, **FORCE}, 3, None, id="forced, whatever is seen"),
    ],
)
def test_the_size(given: dict[str, Any], replicas: int, blocked: str | None) -> None:
    found = scaling(**given)
    assert found.replicas == replicas
    assert (None if found.blockage is None else found.blockage.reason) == blocked


def test_leaving_brokers_are_emptied_by_one_reassignment() -> None:
    found = scaling(FOUR)
    assert found.steps == (CREATE_3,)
    assert found.decommissioning == {3}
    both = scaling(cluster(ON_3, ((4, 0), (4, 0)), live=range(5)), current=5)
    (create,) = both.steps
    assert isinstance(create, CreateReassignment)
    assert (create.name, create.broker_ids) == ("prod-drain-3-4", (3, 4))
    assert create.excluded == {3, 4}


def test_a_broker_in_the_middle_is_emptied_and_stays() -> None:
    fields: dict[str, Any] = {"current": 3, "decommission": {"brokerIds": [1, 99]}}
    found = scaling(HEALTHY, **fields)
    (create,) = found.steps
    assert isinstance(create, CreateReassignment)
    assert create.broker_ids == (1,)
    assert create.excluded == {1, 99}
    empty = scaling(cluster(((0, 2), (0, 2))), **fields)
    assert (empty.replicas, empty.steps, empty.blockage) == (3, (), None)
    assert empty.decommissioning == {1}


def test_decommissioned_brokers_are_emptied_under_force_too() -> None:
    found = scaling(FOUR, decommission={"brokerIds": [0]}, **FORCE)
    assert found.replicas == 3
    (create,) = found.steps
    assert isinstance(create, CreateReassignment)
    assert create.broker_ids == (0,)
    assert create.excluded == {0, 3}


@pytest.mark.parametrize(
    ("state", "message", "reason"),
    [
        ("Executing", "", "Draining"),
        ("Queued", "behind a move", "Draining"),
        ("Paused", "", "DrainPaused"),
    ],
)
def test_while_it_runs_nothing_is_done(state: str, message: str, reason: str) -> None:
    found = scaling(FOUR, drain("prod-drain-3", 3, state=state, message=message))
    assert found.steps == ()
    assert found.blockage is not None
    assert found.blockage.reason == reason
    assert state in found.blockage.message
    assert message in found.blockage.message


def test_the_set_shrinks_when_the_reassignment_has_ended() -> None:
    verifying = scaling(EMPTY_3, drain("prod-drain-3", 3, state="Verifying"))
    assert (verifying.replicas, verifying.steps) == (4, ())
    done = scaling(EMPTY_3, finished("Completed", 0))
    assert (done.replicas, done.steps, done.blockage) == (3, (), None)
    gone = scaling(HEALTHY, finished("Completed", 0), current=3)
    assert gone.steps == (), "what has ended is kept to be looked at"


def test_a_reassignment_that_is_not_wanted_is_withdrawn_then_deleted() -> None:
    running = drain("prod-drain-3", 3, state="Executing")
    raised = scaling(FOUR, running, replicas=4)
    assert raised.steps == (WithdrawReassignment(name="prod-drain-3"),)
    assert (raised.replicas, raised.blockage) == (4, None)
    withdrawn = drain("prod-drain-3", 3, state="Cancelling", is_withdrawn=True)
    assert scaling(FOUR, withdrawn, replicas=4).steps == ()
    ended = drain("prod-drain-3", 3, state="Cancelled", is_withdrawn=True, is_final=True)
    assert scaling(FOUR, ended, replicas=4).steps == (DeleteReassignment(name="prod-drain-3"),)
    going = drain(
        "prod-drain-3", 3, state="Cancelled", is_withdrawn=True, is_final=True, is_terminating=True
    )
    assert scaling(FOUR, going, replicas=4).steps == ()


def test_when_fewer_leave_than_before_it_begins_anew() -> None:
    five = cluster(ON_3, ((4, 0), (4, 0)), live=range(5))
    both = drain("prod-drain-3-4", 3, 4, state="Executing")
    found = scaling(five, both, current=5, replicas=4)
    assert found.steps == (WithdrawReassignment(name="prod-drain-3-4"),)
    ended = drain("prod-drain-3-4", 3, 4, state="Cancelled", is_withdrawn=True, is_final=True)
    delete, create = scaling(five, ended, current=5, replicas=4).steps
    assert delete == DeleteReassignment(name="prod-drain-3-4")
    assert isinstance(create, CreateReassignment)
    assert create.broker_ids == (4,)


def test_when_more_leave_than_before_the_first_is_waited_for() -> None:
    five = cluster(ON_3, ((4, 0), (4, 0)), live=range(5))
    assert scaling(five, drain("prod-drain-4", 4, state="Executing"), current=5).steps == ()


@pytest.mark.parametrize(
    ("state", "wait_ms", "reason"),
    [
        ("Failed", RETRY_AFTER_FAILURE_MS, "DrainFailed"),
        ("Cancelled", RETRY_AFTER_FAILURE_MS, "DrainFailed"),
        ("Completed", RETRY_AFTER_SUCCESS_MS, "Draining"),
    ],
)
def test_what_ended_too_early_is_tried_again_later(state: str, wait_ms: int, reason: str) -> None:
    soon = scaling(FOUR, finished(state, wait_ms - 1))
    assert soon.steps == ()
    assert soon.blockage is not None
    assert soon.blockage.reason == reason
    (create,) = scaling(FOUR, finished(state, wait_ms)).steps
    assert isinstance(create, CreateReassignment)
    assert create.name == "prod-drain-3-try-2"


def test_what_has_ended_is_kept_within_bounds() -> None:
    old = [
        finished("Failed", RETRY_AFTER_FAILURE_MS * n, name=f"prod-drain-3-try-{n}")
        for n in range(1, MAX_FINISHED + 3)
    ]
    *deleted, create = scaling(FOUR, *old).steps
    assert isinstance(create, CreateReassignment)
    assert deleted == [
        DeleteReassignment(name=f"prod-drain-3-try-{n}")
        for n in range(MAX_FINISHED, MAX_FINISHED + 3)
    ]


def test_a_plan_that_cannot_be_made_is_said() -> None:
    problem = "t-0 needs 3 brokers"
    failed = TransientState(plan_problem=problem, plan_failed_ms=NOW_MS - PLAN_RETRY_MS)
    found = scaling(FOUR, transient=failed)
    assert found.steps == (CREATE_3,), "it is planned again: the cluster may have changed"
    soon = scaling(FOUR, transient=replace(failed, plan_failed_ms=NOW_MS - PLAN_RETRY_MS + 1))
    assert (soon.steps, soon.blockage) == ((), found.blockage)
    assert found.blockage is not None
    assert found.blockage.reason == "PlanInfeasible"
    assert found.blockage.message == "1 replicas on brokers 3; t-0 needs 3 brokers"


def test_other_reassignments_are_not_its_business() -> None:
    other = ReassignmentView(name="x", purpose=Purpose.REBALANCE, broker_ids=frozenset({3}))
    assert scaling(FOUR, other).steps == (CREATE_3,)


def test_long_lists_of_brokers_are_cut() -> None:
    seen = cluster((tuple(range(20)), tuple(range(20))), live=range(20))
    found = scaling(seen, current=20)
    assert found.blockage is not None
    assert "brokers 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, …" in found.blockage.message
