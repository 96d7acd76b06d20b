"""Whole lives of reassignments on a small cluster: ends, throttles, faults, and death anywhere."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from ballast.model.ids import TopicPartition
from ballast.reassign.conditions import ConditionType, LifecycleState
from ballast.reassign.errors import MemoryRejected
from ballast.reassign.ports import RequestError
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.spec import (
    Approval,
    ApprovalPolicy,
    Assignments,
    DesiredState,
    Execution,
    OnStalled,
    ReassignmentSpec,
    Settings,
    WhenUnderMinIsr,
)
from ballast.reassign.status import Status
from ballast.reassign.throttles import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
)
from tests.fakes.cluster_admin import (
    FakeAdmin,
    FakeClock,
    FakeCluster,
    FakeStore,
    Fuse,
    Killed,
)

_MAX_VISITS = 3000
T0, T1, T2, T3 = (TopicPartition("t", p) for p in range(4))
TARGETS = {T0: (1, 2, 4), T1: (2, 4, 1), T2: (4, 1, 2), T3: (2, 1, 4)}
ORIGINS = {T0: (1, 2, 3), T1: (2, 3, 1), T2: (3, 1, 2), T3: (1, 2, 4)}


@dataclass
class House:
    """A cluster, a process that works on it, and what survives the process."""

    cluster: FakeCluster
    script: Callable[["House"], ReassignmentSpec]
    fuse: Fuse = field(default_factory=Fuse)
    clock: FakeClock = field(default_factory=FakeClock)
    events: Callable[["House"], None] = lambda _: None
    statuses: list[Status] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock.cluster = self.cluster
        self.store = FakeStore(self.fuse)
        self.admin = FakeAdmin(self.cluster, self.fuse)

    def completed(self) -> int:
        return sum(
            self.cluster.partitions[tp].assignment.replicas == target
            for tp, target in TARGETS.items()
            if tp in self.cluster.partitions
        )

    def run(self) -> Status:
        """Run processes until one comes to the end."""
        for _ in range(3):
            try:
                return asyncio.run(self.process())
            except Killed:
                continue
        raise AssertionError("killed more than once")

    async def process(self) -> Status:
        reconciler = Reconciler(admin=self.admin, store=self.store, clock=self.clock)
        for _ in range(_MAX_VISITS):
            self.events(self)
            visit = await reconciler.visit(self.script(self))
            self.statuses.append(visit.status)
            if visit.delay_seconds is None:
                return visit.status
            await self.clock.sleep(visit.delay_seconds)
        raise AssertionError(f"no end: {self.statuses[-1]}")

    def reasons(self, kind: ConditionType) -> list[str]:
        """Return the reasons one condition has had, without repetitions."""
        reasons: list[str] = []
        for status in self.statuses:
            reason = status.conditions[kind].reason
            if not reasons or reasons[-1] != reason:
                reasons.append(reason)
        return reasons


def cluster(**options: float) -> FakeCluster:
    made = FakeCluster(1, 2, 3, 4, **options)
    for tp, replicas in ORIGINS.items():
        made.add(tp.topic, tp.partition, *replicas, size=1000.0 * (tp.partition + 1))
    made.add("other", 0, 1, 2)
    return made


def spec(
    state: DesiredState = DesiredState.RUNNING,
    *,
    rate: int | None = None,
    generation: int = 1,
    approval: Approval | None = None,
    **execution: object,
) -> ReassignmentSpec:
    return ReassignmentSpec(
        name="move",
        generation=generation,
        assignments=Assignments(targets=TARGETS),
        settings=Settings(
            desired_state=state,
            approval=approval or Approval(),
            execution=replace(
                Execution(throttle_bytes_per_second=rate, max_concurrent_moves_per_broker=1),
                **execution,  # type: ignore[arg-type]
            ),
        ),
    )


def always(wanted: ReassignmentSpec) -> Callable[[House], ReassignmentSpec]:
    return lambda _: wanted


def test_a_plain_move_ends_in_the_plan_with_preferred_leaders() -> None:
    house = House(cluster(), always(spec()))
    status = house.run()
    assert status.state is LifecycleState.COMPLETED
    assert {tp: house.cluster.replicas()[tp] for tp in TARGETS} == TARGETS
    assert all(house.cluster.partitions[tp].leader == TARGETS[tp][0] for tp in TARGETS)
    assert house.cluster.configs() == cluster().configs()
    assert house.cluster.most_in_flight_per_broker == 1
    assert house.reasons(ConditionType.SUCCEEDED)[-2:] == ["Verifying", "Completed"]
    assert status.progress is not None
    assert status.progress.summary == "4/4 (100%)"


def test_a_throttled_move_copies_nothing_without_throttle_and_leaves_none_behind() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    status = house.run()
    assert status.state is LifecycleState.COMPLETED
    assert house.cluster.unthrottled_bytes == 0.0
    assert house.cluster.configs() == before
    assert house.reasons(ConditionType.THROTTLED) == [
        "NotRequested",
        "Applied",
        "Restoring",
        "Restored",
    ]


def test_only_moving_replicas_are_throttled_and_leave_the_lists_as_they_finish() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    lists = set()
    house.events = lambda house: lists.add(
        (
            house.cluster.topic_configs["t"].get(LEADER_REPLICAS),
            house.cluster.topic_configs["t"].get(FOLLOWER_REPLICAS),
        )
    )
    house.run()
    assert ("0:1,0:2,0:3,1:1,1:2,1:3,2:1,2:2,2:3", "0:4,1:4,2:4") in lists
    assert ("1:1,1:2,1:3,2:1,2:2,2:3", "1:4,2:4") in lists
    assert ("2:1,2:2,2:3", "2:4") in lists


def test_throttle_values_of_others_are_kept() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    house.cluster.topic_configs["t"] = {LEADER_REPLICAS: "0:1,9:9", "retention.ms": "5"}
    house.cluster.broker_configs[1] = {LEADER_RATE: "777", FOLLOWER_RATE: "888"}
    house.cluster.broker_configs[4] = {FOLLOWER_RATE: "999", "log.cleaner.threads": "2"}
    before = house.cluster.configs()
    assert house.run().state is LifecycleState.COMPLETED
    assert house.cluster.configs() == before


def test_a_move_to_where_it_is_already_completes_at_once() -> None:
    there = cluster()
    for tp, target in TARGETS.items():
        there.add(tp.topic, tp.partition, *target)
    house = House(there, always(spec(rate=5000)))
    assert house.run().state is LifecycleState.COMPLETED
    assert [effect for effect in house.fuse.effects if effect != "save"] == []


def test_an_ended_reassignment_stays_as_it_ended() -> None:
    house = House(cluster(), always(spec()))
    house.run()
    effects = len(house.fuse.effects)
    house.cluster.reassign(T0, (1, 2, 3))
    house.clock.cluster = None
    assert house.run().state is LifecycleState.COMPLETED
    assert len(house.fuse.effects) == effects


def test_pause_lets_moves_in_flight_finish_and_keeps_the_throttle() -> None:
    seen: list[tuple[int, str | None]] = []

    def script(house: House) -> ReassignmentSpec:
        if house.clock.seconds < 130 and house.completed() >= 1:
            followers = house.cluster.topic_configs["t"].get(FOLLOWER_REPLICAS)
            seen.append((house.completed(), followers))
            return spec(DesiredState.PAUSED, rate=2000, generation=2)
        return spec(rate=2000, generation=3 if house.completed() else 1)

    house = House(cluster(), script)
    assert house.run().state is LifecycleState.COMPLETED
    assert "Paused" in house.reasons(ConditionType.PROGRESSING)
    assert "Paused" in house.reasons(ConditionType.SUCCEEDED)
    assert seen[-1][0] < len(TARGETS)
    assert seen[-1][1]


def test_cancel_leaves_what_is_complete_and_takes_back_what_is_pending() -> None:
    house = House(cluster(), _cancel_after_first)
    before = house.cluster.configs()
    status = house.run()
    assert status.state is LifecycleState.CANCELLED
    assert status.conditions[ConditionType.VERIFIED].status == "False"
    assert house.cluster.configs() == before
    _assert_nothing_pending(house.cluster)
    assert 1 <= house.completed() < len(TARGETS)


def test_cancel_is_not_undone_by_asking_for_running_again() -> None:
    house = House(cluster(), _cancel_after_first)
    house.run()
    house.script = always(spec(generation=9))
    assert house.run().state is LifecycleState.CANCELLED


def test_rollback_brings_everything_back() -> None:
    house = House(cluster(), _roll_back_after_two)
    before = house.cluster.configs()
    assert house.run().state is LifecycleState.ROLLED_BACK
    assert {tp: house.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert house.cluster.configs() == before


def test_rollback_of_what_has_completed() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    house.run()
    house.script = always(spec(DesiredState.ROLLED_BACK, rate=2000, generation=2))
    assert house.run().state is LifecycleState.ROLLED_BACK
    assert {tp: house.cluster.replicas()[tp] for tp in ORIGINS} == ORIGINS
    assert house.cluster.configs() == before
    assert house.cluster.unthrottled_bytes == 0.0


def test_the_throttle_is_edited_and_removed_while_running() -> None:
    rates = set()

    def script(house: House) -> ReassignmentSpec:
        rates.add(house.cluster.broker_configs[4].get(FOLLOWER_RATE))
        return _edited_throttle(house)

    house = House(cluster(), script)
    before = house.cluster.configs()
    assert house.run().state is LifecycleState.COMPLETED
    assert {"1500", "3000", None} <= rates
    assert house.cluster.configs() == before


def test_a_reassignment_of_others_is_left_alone_and_waited_for() -> None:
    other = TopicPartition("other", 0)
    house = House(cluster(copy_rate=50.0), always(spec()))
    house.cluster.reassign(other, (1, 3))
    assert house.run().state is LifecycleState.COMPLETED
    assert house.cluster.replicas()[other] == (1, 3)
    assert house.reasons(ConditionType.PROGRESSING)[:2] == ["Moving", "ForeignReassignment"]


def test_a_move_of_our_partition_elsewhere_is_foreign() -> None:
    house = House(cluster(copy_rate=50.0), always(spec()))
    house.cluster.reassign(T0, (2, 3, 4))
    for _ in range(30):
        house.clock.seconds += 0.1
    asyncio.run(_visits(house, 5))
    assert house.cluster.partitions[T0].assignment.target_replicas == (2, 3, 4)
    assert "ForeignReassignment" in house.reasons(ConditionType.PROGRESSING)


def test_a_dead_target_blocks_its_moves_only_until_it_is_back() -> None:
    house = House(cluster(), always(spec(rate=5000)))
    house.cluster.stop(4)
    before = house.cluster.configs()

    def events(house: House) -> None:
        if house.clock.seconds > 140:
            house.cluster.start(4)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert "TargetBrokerOffline" in house.reasons(ConditionType.PROGRESSING)
    assert house.cluster.configs() == before
    blocked = next(s for s in house.statuses if s.failures)
    assert blocked.failures[0].reason == "TargetBrokerOffline"
    assert house.cluster.unthrottled_bytes == 0.0


def test_a_source_that_died_before_the_start_does_not_hold_anything_up() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    house.cluster.stop(3)
    assert house.run().state is LifecycleState.COMPLETED


def test_a_broker_that_dies_with_a_throttle_on_it_is_a_debt_until_it_is_back() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        if house.completed() == 2:
            house.cluster.stop(3)
        if house.clock.seconds > 200:
            house.cluster.start(3)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert "ThrottleDebt" in house.reasons(ConditionType.VERIFIED)
    assert house.cluster.configs() == before


def test_a_deleted_topic_is_skipped() -> None:
    house = House(cluster(), always(spec(rate=2000)))

    def events(house: House) -> None:
        if house.completed() == 2 and T0 in house.cluster.partitions:
            for tp in TARGETS:
                del house.cluster.partitions[tp]
            del house.cluster.topic_configs["t"]

    house.events = events
    status = house.run()
    assert status.state is LifecycleState.COMPLETED
    assert status.progress is not None
    assert status.progress.skipped == 4
    assert house.cluster.broker_configs == cluster().broker_configs


def test_a_topic_hidden_for_a_moment_is_not_taken_for_deleted() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        hidden = 102 < house.clock.seconds < 106
        house.admin.hidden_topics = {"t"} if hidden else set()

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert house.completed() == 4
    assert house.cluster.configs() == before


def test_an_outage_is_waited_out() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()
    house.events = lambda house: setattr(
        house.admin, "is_available", not 103 < house.clock.seconds < 160
    )
    assert house.run().state is LifecycleState.COMPLETED
    assert "ControllerUnavailable" in house.reasons(ConditionType.PROGRESSING)
    assert house.cluster.configs() == before


def test_an_outage_from_the_first_moment_on() -> None:
    house = House(cluster(), always(spec()))
    house.events = lambda house: setattr(house.admin, "is_available", house.clock.seconds > 120)
    assert house.run().state is LifecycleState.COMPLETED
    assert house.statuses[0].state is LifecycleState.PENDING


def test_a_broker_that_does_not_answer_gets_no_move_before_its_throttle() -> None:
    house = House(cluster(), always(spec(rate=2000)))
    before = house.cluster.configs()

    def events(house: House) -> None:
        house.admin.unreachable = {4} if house.clock.seconds < 130 else set()

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert house.cluster.unthrottled_bytes == 0.0
    assert house.cluster.configs() == before


def test_an_unknown_broker_is_refused_and_nothing_is_touched() -> None:
    wanted = replace(
        spec(), assignments=Assignments(targets={T0: (1, 9)}, paths={T0: "spec.plan.x[0]"})
    )
    house = House(cluster(), always(wanted))
    status = house.run()
    assert status.state is LifecycleState.INVALID
    accepted = status.conditions[ConditionType.ACCEPTED]
    assert (accepted.reason, accepted.message) == (
        "UnknownBroker",
        "spec.plan.x[0].replicas[1]: broker 9 does not exist",
    )
    assert house.fuse.effects == []


def test_a_plan_waits_for_the_approval_of_its_digest() -> None:
    approval = Approval(policy=ApprovalPolicy.MANUAL)
    house = House(cluster(), always(spec(approval=approval)))
    asyncio.run(_visits(house, 5))
    assert house.fuse.effects == ["save"]
    waiting = house.statuses[-1]
    assert waiting.state is LifecycleState.AWAITING_APPROVAL
    assert waiting.plan is not None
    wrong = replace(approval, plan_digest="sha256:" + "0" * 64)
    house.script = always(spec(approval=wrong))
    asyncio.run(_visits(house, 3))
    assert house.statuses[-1].conditions[ConditionType.APPROVED].reason == "DigestMismatch"
    right = replace(approval, plan_digest=waiting.plan.digest)
    house.script = always(spec(approval=right))
    assert house.run().state is LifecycleState.COMPLETED


def test_an_approved_plan_is_stale_once_the_cluster_has_changed() -> None:
    approval = Approval(policy=ApprovalPolicy.MANUAL)
    house = House(cluster(), always(spec(approval=approval)))
    asyncio.run(_visits(house, 3))
    plan = house.statuses[-1].plan
    assert plan is not None
    house.cluster.reassign(T0, (1, 4, 3))
    house.clock.cluster = house.cluster
    house.cluster.live(10)
    house.script = always(spec(approval=replace(approval, plan_digest=plan.digest)))
    asyncio.run(_visits(house, 3))
    assert house.statuses[-1].conditions[ConditionType.APPROVED].reason == "PlanStale"


def test_limits_of_automatic_approval() -> None:
    house = House(cluster(), always(spec(approval=Approval(max_bytes_to_move=5999))))
    asyncio.run(_visits(house, 3))
    assert house.statuses[-1].conditions[ConditionType.APPROVED].reason == "LimitExceeded"
    house.script = always(spec(approval=Approval(max_bytes_to_move=6000, max_replica_moves=3)))
    assert house.run().state is LifecycleState.COMPLETED


def test_a_refusal_for_good_fails_that_move_only() -> None:
    house = House(cluster(), always(spec(rate=5000)))
    before = house.cluster.configs()
    house.admin.refusals[T1] = RequestError(error="POLICY_VIOLATION", message="no")
    status = house.run()
    assert status.state is LifecycleState.FAILED
    assert status.failures[0].reason == "POLICY_VIOLATION"
    assert house.completed() == 3
    assert house.cluster.configs() == before


@pytest.mark.parametrize(
    ("on_stalled", "outcome"),
    [
        (OnStalled.PAUSE, LifecycleState.COMPLETED),
        (OnStalled.CONTINUE, LifecycleState.COMPLETED),
        (OnStalled.ROLL_BACK, LifecycleState.ROLLED_BACK),
    ],
)
def test_no_progress_within_the_deadline(on_stalled: OnStalled, outcome: LifecycleState) -> None:
    wanted = spec(rate=2000, progress_deadline_seconds=20, on_stalled=on_stalled)
    house = House(cluster(), always(wanted))
    before = house.cluster.configs()

    def events(house: House) -> None:
        if house.completed() == 2:
            house.cluster.stop(4)
        if house.clock.seconds > 200:
            house.cluster.start(4)

    house.events = events
    assert house.run().state is outcome
    assert "ProgressDeadlineExceeded" in house.reasons(ConditionType.STALLED)
    assert house.cluster.configs() == before


def test_partitions_under_min_isr_hold_new_moves_back() -> None:
    house = House(cluster(), always(spec()))
    house.cluster.topic_configs["t"]["min.insync.replicas"] = "3"
    house.cluster.stop(1)

    def events(house: House) -> None:
        if house.clock.seconds > 130:
            house.cluster.start(1)

    house.events = events
    assert house.run().state is LifecycleState.COMPLETED
    assert "UnderMinISR" in house.reasons(ConditionType.PROGRESSING)


def test_under_min_isr_may_slow_down_instead() -> None:
    wanted = spec(when_under_min_isr=WhenUnderMinIsr.SLOW_DOWN, max_concurrent_moves_per_broker=9)
    house = House(cluster(), always(wanted))
    house.cluster.topic_configs["t"]["min.insync.replicas"] = "3"
    house.cluster.stop(1)
    asyncio.run(_visits(house, 20))
    assert house.cluster.most_in_flight_per_broker == 1


def test_a_throttle_below_what_producers_bring_in_is_reported() -> None:
    house = House(cluster(), always(spec(rate=1024)))
    for partition in house.cluster.partitions.values():
        partition.bytes_per_second_in = 2000.0
    asyncio.run(_visits(house, 60))
    assert house.reasons(ConditionType.PROGRESSING)[-1] == "ThrottleBelowIngress"


def test_state_of_another_reassignment_is_refused() -> None:
    house = House(cluster(), always(spec()))
    house.run()
    for wanted in (
        replace(spec(), name="elsewhere"),
        replace(spec(), assignments=Assignments(targets={T0: (1, 2)})),
    ):
        house.script = always(wanted)
        with pytest.raises(MemoryRejected):
            house.run()


def test_a_settled_reassignment_writes_nothing() -> None:
    house = House(cluster(), always(spec(DesiredState.PAUSED, rate=2000)))
    asyncio.run(_visits(house, 5))
    effects = len(house.fuse.effects)
    asyncio.run(_visits(house, 100))
    assert len(house.fuse.effects) == effects


def _cancel_after_first(house: House) -> ReassignmentSpec:
    document = house.store.document
    cancelled = document is not None and document["intent"] == "Cancel"
    if cancelled or house.completed() >= 2:
        return spec(DesiredState.CANCELLED, rate=2000, generation=2)
    return spec(rate=2000)


def _roll_back_after_two(house: House) -> ReassignmentSpec:
    document = house.store.document
    rolling = document is not None and document["intent"] == "RollBack"
    if rolling or house.completed() >= 2:
        return spec(DesiredState.ROLLED_BACK, rate=2000, generation=2)
    return spec(rate=2000)


def _edited_throttle(house: House) -> ReassignmentSpec:
    rates = {0: 1500, 1: 3000, 2: None}
    return spec(rate=rates.get(house.completed(), 2000), generation=house.completed() + 1)


def _paused_for_a_while(house: House) -> ReassignmentSpec:
    if house.completed() == 2 and house.clock.seconds < 120:
        return spec(DesiredState.PAUSED, rate=2000)
    return spec(rate=2000)


async def _visits(house: House, count: int) -> None:
    reconciler = Reconciler(admin=house.admin, store=house.store, clock=house.clock)
    for _ in range(count):
        house.events(house)
        visit = await reconciler.visit(house.script(house))
        house.statuses.append(visit.status)
        await house.clock.sleep(visit.delay_seconds or 0.0)


def _assert_nothing_pending(model: FakeCluster) -> None:
    assert not [p for p in model.partitions.values() if p.assignment.is_being_reassigned]


SCENARIOS: dict[str, tuple[Callable[[House], ReassignmentSpec], LifecycleState]] = {
    "plain": (always(spec()), LifecycleState.COMPLETED),
    "throttled": (always(spec(rate=2000)), LifecycleState.COMPLETED),
    "paused": (_paused_for_a_while, LifecycleState.COMPLETED),
    "edited": (_edited_throttle, LifecycleState.COMPLETED),
    "cancelled": (_cancel_after_first, LifecycleState.CANCELLED),
    "rolled back": (_roll_back_after_two, LifecycleState.ROLLED_BACK),
}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_effect_it_comes_to_the_same_end(name: str, after: bool) -> None:
    script, outcome = SCENARIOS[name]
    reference = _prepared(script, None, after)
    assert reference.run().state is outcome
    for at in range(1, len(reference.fuse.effects) + 1):
        house = _prepared(script, at, after)
        before = house.cluster.configs()
        assert house.run().state is outcome, at
        assert house.cluster.configs() == before, f"throttle left behind, killed at effect {at}"
        _assert_nothing_pending(house.cluster)
        if outcome is not LifecycleState.CANCELLED:
            assert house.cluster.replicas() == reference.cluster.replicas(), at
        if name == "throttled":
            assert house.cluster.unthrottled_bytes == 0.0, at


def _prepared(script: Callable[[House], ReassignmentSpec], at: int | None, after: bool) -> House:
    model = cluster()
    model.topic_configs["t"] = {LEADER_REPLICAS: "0:1,7:7"}
    model.broker_configs[4] = {FOLLOWER_RATE: "123456"}
    return House(model, script, fuse=Fuse(at=at, after=after))
