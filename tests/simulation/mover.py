"""Reassignments as users run them: the reconciler, its memory, its death and its return."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ballast.cli.clock import LoopClock
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import AdminOptions
from ballast.reassign.reconcile import Reconciler, ReconcileResult
from ballast.reassign.spec.spec import (
    Assignments,
    DesiredState,
    Execution,
    ReassignmentSpec,
    Settings,
    WhenUnderMinIsr,
)
from ballast.reassign.state.conditions import LifecycleState
from tests.simulation.violations import require

POLL_INTERVAL_S = 0.3
THROTTLES = (None, 1_500, 1_000_000)
"""Bytes per second; the smallest one holds a move back for some seconds."""

ADMIN_OPTIONS = AdminOptions(
    client_id="mover", request_timeout_s=3.0, connect_timeout_s=1.0, call_timeout_s=6.0
)


class RememberedState:
    """A state store that outlives the process that writes to it."""

    def __init__(self) -> None:
        self.document: Mapping[str, object] | None = None

    async def load(self) -> Mapping[str, object] | None:
        """Return what was saved last."""
        return self.document

    async def save(self, document: Mapping[str, object]) -> None:
        """Keep the document."""
        self.document = document


@dataclass(kw_only=True)
class Order:
    """One reassignment that was asked for, and what it replaced."""

    spec: ReassignmentSpec
    origins: Mapping[TopicPartition, tuple[int, ...]]
    store: RememberedState = field(default_factory=RememberedState)
    outcome: LifecycleState | None = None


class Mover:
    """Asks for one reassignment after another and carries each to its end.

    The orders and their stores are the user's; `run` is a process that may be killed anywhere and
    started again.
    """

    def __init__(
        self,
        addresses: Sequence[tuple[str, int]],
        assignments: Mapping[TopicPartition, ReplicaAssignment],
        draw_replicas: Callable[[], tuple[int, ...]],
        rng: random.Random,
        wall_clock_ms: Callable[[], int],
        note: Callable[[str], None],
    ) -> None:
        self.is_over = False
        """Set to let the order under way be the last."""
        self.finished = asyncio.Event()
        self.ended: dict[LifecycleState, int] = {}
        self._order: Order | None = None
        self._number = 0
        self._addresses = addresses
        self._assignments = assignments
        self._draw_replicas = draw_replicas
        self._random = rng
        self._wall_clock_ms = wall_clock_ms
        self._note = note

    async def run(self) -> None:
        """Carry the order under way on, then others, until it is over."""
        while not self.is_over or self._order is not None:
            if self._order is None:
                await asyncio.sleep(self._random.uniform(0.1, 1.0))
                self._order = self._draw_order()
            await self._carry_out(self._order)
            self._order = None
        self.finished.set()

    def _draw_order(self) -> Order:
        self._number += 1
        targets = {
            partition: self._draw_replicas()
            for partition in self._assignments
            if self._random.random() < 0.7
        }
        execution = Execution(
            throttle_bytes_per_second=self._random.choice(THROTTLES),
            max_concurrent_moves_per_broker=self._random.choice((1, 5)),
            when_under_min_isr=self._random.choice(list(WhenUnderMinIsr)),
        )
        return Order(
            spec=ReassignmentSpec(
                name=f"move-{self._number}",
                generation=1,
                assignments=Assignments(targets=targets or {min(self._assignments): (1, 2, 3)}),
                settings=Settings(execution=execution),
            ),
            origins={tp: a.replicas for tp, a in self._assignments.items()},
        )

    async def _carry_out(self, order: Order) -> None:
        admin = AdminClient(self._addresses, ADMIN_OPTIONS)
        clock = LoopClock(self._wall_clock_ms)
        reconciler = Reconciler(
            admin=admin, store=order.store, clock=clock, poll_interval_s=POLL_INTERVAL_S
        )
        while True:
            visit = await reconciler.reconcile(order.spec)
            self._note(f"{order.spec.name} {order.spec.targets}: {_words(visit)}")
            if visit.requeue_after_s is None:
                break
            if self._random.random() < 0.02:
                self._change_mind(order)
            await clock.sleep(visit.requeue_after_s)
        await admin.close()
        state = visit.status.state
        self.ended[state] = self.ended.get(state, 0) + 1
        self._check_end(order, state)

    def _change_mind(self, order: Order) -> None:
        settings = order.spec.settings
        if settings.desired_state is DesiredState.RUNNING:
            wish = self._random.choice((DesiredState.CANCELLED, DesiredState.ROLLED_BACK))
            order.spec = replace(order.spec, settings=replace(settings, desired_state=wish))

    def _check_end(self, order: Order, state: LifecycleState) -> None:
        """Check that what the object says of itself is what the cluster is (promise 3)."""
        for partition, target in order.spec.targets.items():
            now = self._assignments[partition]
            origin = order.origins[partition]
            text = f"{order.spec.name} ended {state}, {partition} is {now}, {origin} to {target}"
            require("R6", not now.is_being_reassigned, text)
            if state is LifecycleState.COMPLETED:
                require("R6", now.replicas == target, text)
            elif state is LifecycleState.ROLLED_BACK:
                require("R6", now.replicas == origin, text)
            else:
                # A cancel puts the replicas back, but Kafka's order of them is lost with it.
                require("R6", set(now.replicas) in ({*origin}, {*target}), text)


def _words(visit: ReconcileResult) -> str:
    reasons = [f"{c.reason} {c.message}" for c in visit.status.conditions.values()]
    return (
        f"{visit.status.state}, again in {visit.requeue_after_s}: {reasons[0] if reasons else ''}"
    )
