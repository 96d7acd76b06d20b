from dataclasses import replace

from ballast.model.assignments import ReplicaAssignment
from ballast.reassign.decision.decision_input import Hints, World
from ballast.reassign.decision.move_states import survey
from ballast.reassign.decision.steps import SubmitBatch
from ballast.reassign.decision.submission import next_batch_of, under_min_isr, what_blocks
from ballast.reassign.decision.throttle_plan import Throttling
from ballast.reassign.plan.plan import Plan
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import Execution
from tests.unit.reassign.worlds import T0, T1, TARGETS, memory, observed, partition, spec, world

NONE = Throttling.of(None, ())


def submit(of: World, *, slow: bool = False, throttling: Throttling = NONE) -> list[str]:
    seen = survey(memory(), of.observed, of.hints)
    batch = next_batch_of(of, memory(), seen, throttling, slow=slow)
    return [] if batch is None else [str(tp) for tp in batch.targets]


def test_all_that_may_move_is_submitted_with_its_target() -> None:
    seen = survey(memory(), observed(), Hints())
    assert next_batch_of(world(), memory(), seen, NONE, slow=False) == SubmitBatch(targets=TARGETS)


def test_one_at_a_time() -> None:
    assert submit(world(), slow=True) == ["t-0"]


def test_small_ones_first() -> None:
    execution = Execution(batch_size=1)
    large = observed(sizes={(T0, 1): 10, (T1, 3): 5})
    assert submit(world(large, wanted=spec(execution=execution))) == ["t-1"]
    last_copy = observed(
        partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), sizes={(T0, 1): 10, (T1, 3): 5}
    )
    assert submit(world(last_copy, wanted=spec(execution=execution))) == ["t-0"]


def test_what_is_not_throttled_yet_waits() -> None:
    plan = memory().plan
    seen = observed(broker_configs={2: {}, 3: {}, 4: {}})
    assert submit(world(seen), throttling=Throttling.of(5, plan.moves)) == []


def test_what_does_not_fit_into_the_list_of_throttled_replicas_waits() -> None:
    throttling = Throttling.of(5, memory().plan.moves, {T1})
    known = replace(memory(), broker_throttles={b: {} for b in (1, 2, 3, 4)})
    of = world()
    seen = survey(known, of.observed, of.hints)
    batch = next_batch_of(of, known, seen, throttling, slow=False)
    assert batch == SubmitBatch(targets={T1: TARGETS[T1]})


def test_partitions_under_min_isr() -> None:
    thin = observed(partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), min_isr=2)
    assert under_min_isr(survey(memory(), thin, Hints()), thin) == (T0,)


def test_a_partition_that_the_plan_takes_off_a_dead_broker_does_not_hold_it_up() -> None:
    dead = observed(partition(T0, 1, 2, isr=(1,)), partition(T1, 3, 2), min_isr=2, live=(1, 3, 4))
    assert under_min_isr(survey(memory(), dead, Hints()), dead) == ()


def test_a_partition_never_needs_more_than_it_had_replicas() -> None:
    """One replica under an inherited minimum of 2, before, during and after its move to three."""
    plan = Plan.of({T0: (1, 2, 3)}, {T0: (1,)})
    grown = replace(memory(), plan=plan)
    growing = ReplicaAssignment.of(1).reassign_to((1, 2, 3))
    for seen in (
        observed(partition(T0, 1), min_isr=2),
        observed(partition(T0, 1, 2, 3, isr=(1,)), min_isr=2, pending={T0: growing}),
        observed(partition(T0, 1, 2, 3, isr=(1, 2)), min_isr=2),
    ):
        assert under_min_isr(survey(grown, seen, Hints()), seen) == ()


def test_a_live_replica_beside_a_lost_one_is_the_cure() -> None:
    """RF 2 to 3 while one replica is lost: on a dead broker, or in a directory that failed."""
    adds = replace(memory(), plan=Plan.of({T0: (1, 2, 4)}, {T0: (1, 2)}))
    thin = partition(T0, 1, 2, isr=(1,))
    lost = observed(thin, min_isr=2, live=(1, 3, 4))
    failed = observed(replace(thin, offline=(2,)), min_isr=2)
    behind = observed(thin, min_isr=2)
    held_up = [under_min_isr(survey(adds, seen, Hints()), seen) for seen in (lost, failed, behind)]
    assert held_up == [(), (), (T0,)]
    all_dead = observed(thin, min_isr=2, live=(1, 3))
    assert under_min_isr(survey(adds, all_dead, Hints()), all_dead) == (T0,)


def test_what_blocks_in_words() -> None:
    hints = Hints(refused={T1: RequestError(error="BUSY", message="later")})
    cases = {
        "t-0 waits for broker 4; t-1 waits for broker 4": world(observed(live=(1, 2, 3))),
        "t-0 waits for a throttle to be set; t-1: BUSY later": world(hints=hints),
        "t-0 is not visible; t-1 waits for a throttle to be set": world(
            observed(partition(T1, 3, 2))
        ),
    }
    for words, of in cases.items():
        assert what_blocks(survey(memory(), of.observed, of.hints), of) == words
