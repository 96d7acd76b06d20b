from dataclasses import replace

from ballast.model.assignments import ReplicaAssignment
from ballast.reassign.decision.decision_input import DecisionInput, TransientState
from ballast.reassign.decision.move_states import classify_moves
from ballast.reassign.decision.steps import SubmitBatch
from ballast.reassign.decision.submission import blocking_reasons, next_submission, under_min_isr
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.plan.plan import Plan
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import Execution
from tests.unit.reassign.builders import (
    T0,
    T1,
    TARGETS,
    decision_input,
    observation,
    partition,
    persisted_state,
    spec,
)

NONE = Throttling.of(None, ())


def submit(of: DecisionInput, *, slow: bool = False, throttling: Throttling = NONE) -> list[str]:
    seen = classify_moves(persisted_state(), of.observation, of.transient)
    batch = next_submission(of, persisted_state(), seen, throttling, slow=slow)
    return [] if batch is None else [str(tp) for tp in batch.targets]


def test_all_that_may_move_is_submitted_with_its_target() -> None:
    seen = classify_moves(persisted_state(), observation(), TransientState())
    assert next_submission(
        decision_input(), persisted_state(), seen, NONE, slow=False
    ) == SubmitBatch(targets=TARGETS)


def test_one_at_a_time() -> None:
    assert submit(decision_input(), slow=True) == ["t-0"]


def test_small_ones_first() -> None:
    execution = Execution(batch_size=1)
    large = observation(sizes={(T0, 1): 10, (T1, 3): 5})
    assert submit(decision_input(large, wanted=spec(execution=execution))) == ["t-1"]
    last_copy = observation(
        partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), sizes={(T0, 1): 10, (T1, 3): 5}
    )
    assert submit(decision_input(last_copy, wanted=spec(execution=execution))) == ["t-0"]


def test_what_is_not_throttled_yet_waits() -> None:
    plan = persisted_state().plan
    seen = observation(broker_configs={2: {}, 3: {}, 4: {}})
    assert submit(decision_input(seen), throttling=Throttling.of(5, plan.moves)) == []


def test_what_does_not_fit_into_the_list_of_throttled_replicas_waits() -> None:
    throttling = Throttling.of(5, persisted_state().plan.moves, {T1})
    known = replace(persisted_state(), broker_throttles={b: {} for b in (1, 2, 3, 4)})
    of = decision_input()
    seen = classify_moves(known, of.observation, of.transient)
    batch = next_submission(of, known, seen, throttling, slow=False)
    assert batch == SubmitBatch(targets={T1: TARGETS[T1]})


def test_partitions_under_min_isr() -> None:
    thin = observation(partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), min_isr=2)
    assert under_min_isr(classify_moves(persisted_state(), thin, TransientState()), thin) == (T0,)


def test_a_partition_that_the_plan_takes_off_a_dead_broker_does_not_hold_it_up() -> None:
    dead = observation(
        partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), min_isr=2, live=(1, 3, 4)
    )
    assert under_min_isr(classify_moves(persisted_state(), dead, TransientState()), dead) == ()


def test_a_partition_never_needs_more_than_it_had_replicas() -> None:
    """One replica under an inherited minimum of 2, before, during and after its move to three."""
    plan = Plan.of({T0: (1, 2, 3)}, {T0: (1,)})
    grown = replace(persisted_state(), plan=plan)
    growing = ReplicaAssignment.of(1).reassign_to((1, 2, 3))
    for seen in (
        observation(partition(T0, 1), min_isr=2),
        observation(partition(T0, 1, 2, 3, isr=(1,)), min_isr=2, pending={T0: growing}),
        observation(partition(T0, 1, 2, 3, isr=(1, 2)), min_isr=2),
    ):
        assert under_min_isr(classify_moves(grown, seen, TransientState()), seen) == ()


def test_a_live_replica_beside_a_lost_one_is_the_cure() -> None:
    """RF 2 to 3 while one replica is lost: on a dead broker, or in a directory that failed."""
    adds = replace(persisted_state(), plan=Plan.of({T0: (1, 2, 4)}, {T0: (1, 2)}))
    thin = partition(T0, 1, 2, isr=(1,))
    lost = observation(thin, min_isr=2, live=(1, 3, 4))
    failed = observation(replace(thin, offline=(2,)), min_isr=2)
    behind = observation(thin, min_isr=2)
    held_up = [
        under_min_isr(classify_moves(adds, seen, TransientState()), seen)
        for seen in (lost, failed, behind)
    ]
    assert held_up == [(), (), (T0,)]
    all_dead = observation(thin, min_isr=2, live=(1, 3))
    assert under_min_isr(classify_moves(adds, all_dead, TransientState()), all_dead) == (T0,)


def test_what_blocks_in_words() -> None:
    transient = TransientState(refusals={T1: RequestError(error="BUSY", message="later")})
    cases = {
        "t-0 waits for broker 4; t-1 waits for broker 4": decision_input(
            observation(live=(1, 2, 3))
        ),
        "t-0 waits for a throttle to be set; t-1: BUSY later": decision_input(transient=transient),
        "t-0 is not visible; t-1 waits for a throttle to be set": decision_input(
            observation(partition(T1, 3, 2))
        ),
    }
    for words, of in cases.items():
        assert (
            blocking_reasons(classify_moves(persisted_state(), of.observation, of.transient), of)
            == words
        )
