"""A reassignment from its first visit to its last, on a small cluster."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ballast.model.ids import TopicPartition
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.spec.spec import (
    Approval,
    Assignments,
    DesiredState,
    Execution,
    ReassignmentSpec,
    Settings,
)
from ballast.reassign.state.conditions import ConditionType
from ballast.reassign.state.lifecycle import NEXT_STATES
from ballast.reassign.state.status import Status
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster
from tests.fakes.crash_point import CrashPoint, Killed
from tests.fakes.state_store import FakeStore

_MAX_VISITS = 3000
T0, T1, T2, T3 = (TopicPartition("t", p) for p in range(4))
TARGETS = {T0: (1, 2, 4), T1: (2, 4, 1), T2: (4, 1, 2), T3: (2, 1, 4)}
ORIGINS = {T0: (1, 2, 3), T1: (2, 3, 1), T2: (3, 1, 2), T3: (1, 2, 4)}


@dataclass
class Scenario:
    """A cluster, a process that works on it, and what survives the process."""

    cluster: FakeCluster
    script: Callable[["Scenario"], ReassignmentSpec]
    crash_point: CrashPoint = field(default_factory=CrashPoint)
    clock: FakeClock = field(default_factory=FakeClock)
    events: Callable[["Scenario"], None] = lambda _: None
    statuses: list[Status] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock.cluster = self.cluster
        self.store = FakeStore(self.crash_point)
        self.admin = FakeAdmin(self.cluster, self.crash_point)

    def completed(self) -> int:
        return sum(
            self.cluster.partitions[tp].assignment.replicas == target
            for tp, target in TARGETS.items()
            if tp in self.cluster.partitions
        )

    def run(self) -> Status:
        """Run processes until one reaches the end."""
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
            visit = await reconciler.reconcile(self.script(self))
            self.record(visit.status)
            if visit.requeue_after_s is None:
                return visit.status
            await self.clock.sleep(visit.requeue_after_s)
        raise AssertionError(f"no end: {self.statuses[-1]}")

    def record(self, status: Status) -> None:
        """Keep a status; its state must be one that may follow the last."""
        if self.statuses:
            last = self.statuses[-1].state
            assert status.state in NEXT_STATES[last], f"{last} was followed by {status.state}"
        self.statuses.append(status)

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


def always(wanted: ReassignmentSpec) -> Callable[[Scenario], ReassignmentSpec]:
    return lambda _: wanted


def cancel_after_first(scenario: Scenario) -> ReassignmentSpec:
    document = scenario.store.document
    cancelled = document is not None and document["intent"] == "Cancel"
    if cancelled or scenario.completed() >= 2:
        return spec(DesiredState.CANCELLED, rate=2000, generation=2)
    return spec(rate=2000)


def roll_back_after_two(scenario: Scenario) -> ReassignmentSpec:
    document = scenario.store.document
    rolling = document is not None and document["intent"] == "RollBack"
    if rolling or scenario.completed() >= 2:
        return spec(DesiredState.ROLLED_BACK, rate=2000, generation=2)
    return spec(rate=2000)


def edited_throttle(scenario: Scenario) -> ReassignmentSpec:
    rates = {0: 1500, 1: 3000, 2: None}
    return spec(rate=rates.get(scenario.completed(), 2000), generation=scenario.completed() + 1)


def paused_for_a_while(scenario: Scenario) -> ReassignmentSpec:
    if scenario.completed() == 2 and scenario.clock.seconds < 120:
        return spec(DesiredState.PAUSED, rate=2000)
    return spec(rate=2000)


async def visits(scenario: Scenario, count: int) -> None:
    reconciler = Reconciler(admin=scenario.admin, store=scenario.store, clock=scenario.clock)
    for _ in range(count):
        scenario.events(scenario)
        visit = await reconciler.reconcile(scenario.script(scenario))
        scenario.record(visit.status)
        await scenario.clock.sleep(visit.requeue_after_s or 0.0)


def assert_nothing_pending(model: FakeCluster) -> None:
    assert not [p for p in model.partitions.values() if p.assignment.is_being_reassigned]
