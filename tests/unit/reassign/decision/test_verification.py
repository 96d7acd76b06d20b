from dataclasses import replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.decision.move_states import MoveStates, classify_moves
from ballast.reassign.decision.verification import electable_partitions, mismatches
from ballast.reassign.plan.plan import Plan
from tests.unit.reassign.builders import T0, T1, observation, partition, persisted_state, spec

DONE = observation(partition(T0, 1, 4), partition(T1, 4, 2))


def look(seen: Observation) -> MoveStates:
    return classify_moves(persisted_state(), seen, TransientState())


def test_all_is_as_it_must_be() -> None:
    assert mismatches(spec(), look(DONE), DONE) == ()
    assert electable_partitions(look(DONE), DONE) == ()


def test_replicas_that_are_not_in_sync() -> None:
    seen = observation(partition(T0, 1, 4, isr=(1,)), partition(T1, 4, 2))
    assert mismatches(spec(), look(seen), seen) == ("t-0: not in sync: 4",)


def test_leaders_that_are_not_preferred() -> None:
    seen = observation(partition(T0, 1, 4), partition(T1, 4, 2, leader=2))
    assert mismatches(spec(), look(seen), seen) == ("t-1: led by 2 instead of 4",)
    assert electable_partitions(look(seen), seen) == (T1,)
    indifferent = replace(spec(), settings=replace(spec().settings, elect_preferred_leaders=False))
    assert mismatches(indifferent, look(seen), seen) == ()


def test_only_a_live_replica_in_sync_can_be_elected() -> None:
    behind = observation(partition(T0, 1, 4), partition(T1, 4, 2, leader=2, isr=(2,)))
    dead = observation(partition(T0, 1, 4), partition(T1, 4, 2, leader=2), live=(1, 2, 3))
    assert electable_partitions(look(behind), behind) == ()
    assert electable_partitions(look(dead), dead) == ()


def test_many_mismatches_are_counted() -> None:
    partitions = [TopicPartition("t", p) for p in range(9)]
    plan = Plan.of(dict.fromkeys(partitions, (1, 2)), dict.fromkeys(partitions, (1, 3)))
    seen = observation(*(partition(tp, 1, 2, isr=(1,)) for tp in partitions))
    found = mismatches(
        spec(), classify_moves(replace(persisted_state(), plan=plan), seen, TransientState()), seen
    )
    assert len(found) == 6
    assert found[-1] == "and 4 more"
