from dataclasses import replace

from ballast.model.fields import MAX_ERRORS
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.admission import approval_problem, plan_from_current, problems
from ballast.reassign.spec.spec import Approval, ApprovalPolicy
from tests.unit.reassign.builders import (
    ORIGINS,
    PLAN,
    T0,
    T1,
    T2,
    observation,
    partition,
    persisted_state,
    spec,
)


def kinds(
    targets: dict[TopicPartition, tuple[int, ...]], *, min_isr: int = 1
) -> list[tuple[str, str]]:
    seen = observation(min_isr=min_isr)
    return [(p.kind, str(p.error)) for p in problems(spec(targets=targets), seen)]


def test_a_spec_that_fits_has_no_problems() -> None:
    assert kinds(dict(spec().targets)) == []


def test_what_does_not_exist_is_named_with_its_path() -> None:
    assert kinds({T0: (1, 9), T2: (1,), TopicPartition("u", 0): (1,)}) == [
        ("UnknownBroker", "spec.plan.assignments[0].replicas[1]: broker 9 does not exist"),
        ("UnknownTopic", "spec.plan.assignments[1].partition: topic t has no such partition"),
        ("UnknownTopic", "spec.plan.assignments[2].topic: topic u does not exist"),
    ]


def test_a_broker_that_is_down_but_holds_replicas_is_known() -> None:
    seen = observation(partition(T0, 1, 5), partition(T1, 3, 2))
    assert problems(spec(targets={T1: (2, 5)}), seen) == ()


def test_no_plan_takes_a_partition_below_min_isr() -> None:
    assert kinds({T0: (1,)}, min_isr=2) == [
        (
            "BelowMinISR",
            "spec.plan.assignments[0].replicas: fewer replicas than min.insync.replicas=2 "
            "of topic t",
        )
    ]
    assert kinds({T0: (1, 4)}, min_isr=3) == [], "it has no more today"


def test_problems_are_bounded() -> None:
    targets = {TopicPartition("u", p): (1,) for p in range(1000)}
    assert len(problems(spec(targets=targets), observation())) == MAX_ERRORS


def test_the_plan_starts_where_the_cluster_stands() -> None:
    assert plan_from_current(spec(), observation()) == PLAN
    assert {m.topic_partition: m.origin for m in PLAN.moves} == ORIGINS


def reason(approval: Approval, *, drifted: bool = False) -> str | None:
    seen = observation(sizes={(T0, 1): 600, (T1, 3): 500})
    current = replace(PLAN, moves=PLAN.moves[:1]) if drifted else PLAN
    found = approval_problem(spec(approval=approval), persisted_state(), current, seen)
    return None if found is None else found.reason


MANUAL = Approval(policy=ApprovalPolicy.MANUAL)


def test_who_may_run() -> None:
    assert reason(Approval()) is None
    assert reason(MANUAL) == "AwaitingApproval"
    assert reason(replace(MANUAL, plan_digest=PLAN.digest)) is None
    assert reason(replace(MANUAL, plan_digest="sha256:0")) == "DigestMismatch"
    assert reason(Approval(plan_digest="sha256:0")) == "DigestMismatch"
    assert reason(replace(MANUAL, plan_digest=PLAN.digest), drifted=True) == "PlanStale"


def test_limits_bind_automatic_approval_only() -> None:
    assert reason(Approval(max_bytes_to_move=1100, max_replica_moves=2)) is None
    assert reason(Approval(max_bytes_to_move=1099)) == "LimitExceeded"
    assert reason(Approval(max_replica_moves=1)) == "LimitExceeded"
    assert reason(Approval(max_replica_moves=1, plan_digest=PLAN.digest)) is None
