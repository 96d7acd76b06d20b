"""Reassignments of one cluster, carried out side by side as the operator does: one has its turn.

The process may be killed at any time; what was asked for, and what each has stored, stays.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ballast.cli.clock import LoopClock
from ballast.model.ids import TopicPartition
from ballast.net.admin.admin import AdminClient
from ballast.net.admin.cluster_connections import Address, AdminOptions
from ballast.reassign.decision.decision_input import HAS_TURN
from ballast.reassign.ports import RequestError
from ballast.reassign.reconcile import Reconciler, ReconcileResult
from ballast.reassign.spec.spec import DesiredState, ReassignmentSpec
from ballast.reassign.state.conditions import LifecycleState
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.state.queueing import Purpose, QueueEntry, QueuePlace, places
from tests.simulation.mover import RememberedState

POLL_INTERVAL_S = 0.3
PAUSE_S = 0.05
"""Between two looks at what is due."""
NOT_AUTHORIZED = RequestError(
    error="CLUSTER_AUTHORIZATION_FAILED", message="Cluster authorization failed."
)

ADMIN_OPTIONS = AdminOptions(
    client_id="desk", request_timeout_s=3.0, connect_timeout_s=1.0, call_timeout_s=6.0
)


@dataclass(kw_only=True)
class Order:
    """One reassignment that was asked for."""

    spec: ReassignmentSpec
    purpose: Purpose = Purpose.EXPLICIT
    store: RememberedState = field(default_factory=RememberedState)
    state: LifecycleState = LifecycleState.PENDING
    """As last reported."""
    words: str = ""
    """What it said of itself last."""
    has_ended: bool = False

    @property
    def name(self) -> str:
        """The name of the reassignment."""
        return self.spec.name

    @property
    def memory(self) -> PersistedState | None:
        """What is stored of it."""
        document = self.store.document
        return None if document is None else PersistedState.from_document(document)

    def want(self, wish: DesiredState) -> None:
        """Change ``spec.desiredState``."""
        settings = replace(self.spec.settings, desired_state=wish)
        self.spec = replace(self.spec, settings=settings, generation=self.spec.generation + 1)


@dataclass(kw_only=True)
class Rights:
    """What the cluster lets the operator's principal do."""

    may_elect: bool = True
    may_cancel: bool = True


class LimitedAdmin(AdminClient):
    """An admin client whose principal lacks rights: brokers of Apache Kafka refuse single requests.

    Ballast's own brokers know no rights, so the refusal is made here.
    """

    def __init__(self, addresses: Sequence[Address], rights: Rights) -> None:
        super().__init__(addresses, ADMIN_OPTIONS)
        self._rights = rights

    async def elect_preferred_leaders(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, RequestError]:
        """Elect, if that is allowed."""
        if not self._rights.may_elect:
            return dict.fromkeys(partitions, NOT_AUTHORIZED)
        return await super().elect_preferred_leaders(partitions)

    async def alter_reassignments(
        self, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> Mapping[TopicPartition, RequestError]:
        """Start moves, and cancel some if that is allowed."""
        if self._rights.may_cancel:
            return await super().alter_reassignments(targets)
        begun = {tp: target for tp, target in targets.items() if target is not None}
        refused = dict.fromkeys(targets.keys() - begun.keys(), NOT_AUTHORIZED)
        return {**refused, **await super().alter_reassignments(begun)}


class ReassignmentOperator:
    """Visits every order that has not ended, in turn."""

    def __init__(
        self,
        addresses: Sequence[Address],
        rights: Rights,
        wall_clock_ms: Callable[[], int],
        note: Callable[[str], None],
    ) -> None:
        self.orders: list[Order] = []
        self._addresses = addresses
        self._rights = rights
        self._wall_clock_ms = wall_clock_ms
        self._note = note

    async def run(self) -> None:
        """Carry orders on for ever; to be run as a process."""
        admin = LimitedAdmin(self._addresses, self._rights)
        clock = LoopClock(self._wall_clock_ms)
        reconcilers: dict[str, Reconciler] = {}
        due: dict[str, float] = {}
        while True:
            for order in self.orders:
                if order.has_ended or clock.now() < due.get(order.name, 0.0):
                    continue
                reconciler = reconcilers.setdefault(
                    order.name,
                    Reconciler(
                        admin=admin,
                        store=order.store,
                        clock=clock,
                        poll_interval_s=POLL_INTERVAL_S,
                    ),
                )
                visit = await reconciler.reconcile(order.spec, self._place(order))
                due[order.name] = clock.now() + (visit.requeue_after_s or 0.0)
                self._heed(order, visit)
            await asyncio.sleep(PAUSE_S)

    def _heed(self, order: Order, visit: ReconcileResult) -> None:
        order.state = visit.status.state
        reasons = (f"{c.reason} {c.message}" for c in visit.status.conditions.values())
        order.words = "; ".join(reasons)
        order.has_ended = visit.requeue_after_s is None
        self._note(f"{order.name}: {order.state}: {order.words}")

    def _place(self, order: Order) -> QueuePlace:
        mine = _entry(order)
        if mine.has_begun:
            return HAS_TURN
        waiting = replace(mine, state=LifecycleState.QUEUED, yields=False)
        others = (_entry(other) for other in self.orders if other is not order)
        return places((waiting, *others))[mine.uid]


def _entry(order: Order) -> QueueEntry:
    memory = order.memory
    has_begun = memory is not None and memory.start_time_ms is not None and memory.outcome is None
    yields = has_begun and memory is not None and memory.yields_turn
    return QueueEntry(
        name=order.name,
        uid=order.name,
        creation_time=order.name,
        state=order.state,
        purpose=order.purpose,
        has_begun=has_begun and not yields,
        yields=yields,
        is_paused=order.spec.settings.desired_state is DesiredState.PAUSED,
    )
