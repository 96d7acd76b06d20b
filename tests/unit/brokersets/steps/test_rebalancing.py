from typing import Any

import pytest

from ballast.brokersets.observation.observation import Cluster, Purpose, ReassignmentView
from ballast.brokersets.observation.partition_counts import count_partitions
from ballast.brokersets.observation.readiness import GateDecision
from ballast.brokersets.steps.decision_input import TransientState
from ballast.brokersets.steps.rebalancing import plan_rebalance
from ballast.brokersets.steps.steps import (
    CreateReassignment,
    DeleteReassignment,
    Step,
    WithdrawReassignment,
)
from tests.unit.brokersets.builders import (
    FULL,
    NOW_MS,
    broker_set,
    cluster,
    decision_input,
    observation,
)

OPEN = GateDecision(is_true=True, reason="InSync")
SHUT = GateDecision(is_true=False, reason="NotRegistered")
FIVE = cluster(FULL, live=range(5))
PROPOSE = {"rebalanceOnScaleOut": "Propose", "replicas": 5}


def proposal(*ids: int, **fields: Any) -> ReassignmentView:
    return ReassignmentView(
        name="prod-rebalance-3-4",
        purpose=Purpose.REBALANCE,
        broker_ids=frozenset(ids),
        **fields,
    )


def steps(
    seen: Cluster = FIVE,
    *proposals: ReassignmentView,
    decommissioning: frozenset[int] = frozenset(),
    gate_decisions: dict[int, GateDecision] | None = None,
    transient: TransientState | None = None,
    **fields: Any,
) -> tuple[Step, ...]:
    return plan_rebalance(
        decision_input(
            broker_set(**(PROPOSE | fields)),
            observation(cluster=seen, reassignments=proposals),
            transient=transient or TransientState(),
        ),
        count_partitions(seen),
        decommissioning,
        gate_decisions or dict.fromkeys(range(5), OPEN),
    )


def test_new_brokers_are_proposed_a_share() -> None:
    assert steps() == (
        CreateReassignment(
            name="prod-rebalance-3-4",
            purpose=Purpose.REBALANCE,
            broker_ids=(3, 4),
            excluded=frozenset(),
        ),
    )


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"rebalanceOnScaleOut": "None"}, id="not asked for"),
        pytest.param({"seen": cluster(live=range(5))}, id="nothing to share"),
        pytest.param({"decommissioning": frozenset({1})}, id="brokers leave"),
        pytest.param({"gate_decisions": {3: SHUT, 4: SHUT}}, id="not in service yet"),
        pytest.param({"replicas": 3}, id="they are to go"),
        pytest.param({"seen": cluster(FULL, ((3, 4), (3, 4)), live=range(5))}, id="they hold some"),
        pytest.param(
            {"transient": TransientState(plan_failed_ms=NOW_MS)}, id="planning failed just now"
        ),
    ],
)
def test_no_proposal(given: dict[str, Any]) -> None:
    assert steps(**given) == ()


@pytest.mark.parametrize("state", ["AwaitingApproval", "Executing", "Completed", "Cancelled"])
def test_each_broker_is_proposed_for_once(state: str) -> None:
    assert steps(FIVE, proposal(3, 4, state=state)) == ()
    (create,) = steps(FIVE, proposal(3, state=state))
    assert isinstance(create, CreateReassignment)
    assert (create.name, create.broker_ids) == ("prod-rebalance-4", (4,))


def test_a_proposal_for_brokers_that_are_to_go_is_withdrawn() -> None:
    name = "prod-rebalance-3-4"
    awaiting = proposal(3, 4, state="AwaitingApproval")
    assert steps(FIVE, awaiting, replicas=4, decommissioning=frozenset({4})) == (
        WithdrawReassignment(name=name),
    )
    ended = proposal(3, 4, state="Cancelled", is_withdrawn=True, is_final=True)
    assert steps(FIVE, ended, decommissioning=frozenset({4})) == (DeleteReassignment(name=name),)
    going = proposal(3, 4, is_withdrawn=True, is_final=True, is_terminating=True)
    assert steps(FIVE, going, decommissioning=frozenset({4})) == ()
