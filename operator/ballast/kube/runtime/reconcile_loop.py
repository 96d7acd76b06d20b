"""The reconcile loop of one object: the same for every kind, in the manner of controller-runtime.

    read the object ─► reconcile ─► Result ─► finalizer ─► Events ─► status ─► delete ─► dependents
          ▲                                                                                  │
          └────────────── wait: requeue_after_s, or until the key is enqueued ◄──────────────┘

A kind's reconciler decides and acts on the cluster; it returns a `Result` and neither writes the
object nor records an Event. The loop alone reads the object, starts a new reconciler for another
uid, changes the finalizer, writes the status, records Events, counts, and backs off after errors.

The order of a result's effects is fixed. The finalizer comes first: a result that says no more than
"add it" is repeated until the API server has it, so nothing happens to a cluster before. An Event
about a change of conditions is recorded once that change is written, and dependents are enqueued
after it, because they read it. A process that is killed between two effects is followed by one that
reconciles the object again.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from ballast.kube.api.errors import Invalid, KubernetesError, NotFound
from ballast.kube.api.events import EventRecorder
from ballast.kube.api.ports import PatchType
from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.api.resources import Document, ObjectKey, Resource
from ballast.kube.api.status_writer import StatusWriter
from ballast.kube.runtime.condition_events import ObjectEvent
from ballast.kube.runtime.context import OperatorContext

log = logging.getLogger(__name__)

FIRST_BACK_OFF_S: Final = 0.5
MAX_BACK_OFF_S: Final = 60.0
"""After reconciliations that failed one after another."""
SHARE: Final = 4.0
"""A reconciliation of a large cluster takes a while: the next one waits this many times as long."""
MAX_SHARE_S: Final = 5.0
"""The longest wait for that reason."""
SHORT_REQUEUE_S: Final = 0.5
"""A result that asks for less than this is never delayed for that reason."""


REQUEUE_NOW: Final = 0.0

Status = Mapping[str, Any]


class Finalizer(Enum):
    """A change of the object's finalizer (`CLEANUP_FINALIZER`)."""

    ADD = auto()
    REMOVE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one reconciliation. The module's docstring has the order of its effects."""

    requeue_after_s: float | None
    """When to reconcile again, unless the object is enqueued before; None = never: the object is
    gone, or has no finalizer of ours any more."""
    finalizer: Finalizer | None = None
    """The change of the finalizer. If the object has changed since it was read, the result is
    dropped and the object is reconciled again at once."""
    events: tuple[ObjectEvent, ...] = ()
    """Events about what was done; those about a change of conditions follow from the status."""
    status: Status | None = None
    """The whole status; None = it stays as it is."""
    is_urgent: bool = False
    """Whether the status must be stored before the next reconciliation: it is written at once."""
    has_ended: bool = False
    """Whether the objects that wait for the end of this one have to be reconciled."""
    is_expired: bool = False
    """Whether the object itself is to be deleted."""
    is_unchanged_until_enqueued: bool = False
    """Whether the object need not be read again before it is enqueued."""


class ObjectReconciler:
    """What a kind implements. One instance serves one object, from its uid on until it is gone."""

    async def reconcile(self, document: Document) -> Result:
        """Take the next step for an object that was just read.

        Raises `KubernetesError`; any other error is a bug. After either `forget` is called.
        """
        raise NotImplementedError

    async def reconcile_unchanged(self, document: Document) -> Result | None:
        """Take the next step for an object that is as it was; None if it has to be read again."""
        del document
        return None

    def events_between(self, before: Status, after: Status) -> Iterable[ObjectEvent]:
        """Return the Events for a change of the status."""
        raise NotImplementedError

    async def dependents(self, document: Document) -> Sequence[ObjectKey]:
        """Return the objects that wait for the end of this one. Raises `KubernetesError`."""
        del document
        return ()

    def forget(self) -> None:
        """Drop what is cached: after an error it may differ from what is stored."""

    async def close(self) -> None:
        """Close every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledKind:
    """A kind of objects, and how they are reconciled."""

    resource: Resource
    open: Callable[[OperatorContext, ObjectKey], ObjectReconciler]
    min_pause_s: float = 0.0
    """The least time between two reconciliations of an object that is enqueued often."""

    async def run(
        self, operator: OperatorContext, key: ObjectKey, stopped: Callable[[], bool]
    ) -> None:
        """Reconcile one object until there is nothing more to do for it, or until ``stopped``.

        ``stopped`` is the end of the process. Raises nothing but CancelledError.
        """
        loop = ReconcileLoop(self, operator, key)
        try:
            is_enqueued = True
            while not stopped():
                requeue_after_s = await loop.reconcile_once(is_enqueued=is_enqueued)
                if requeue_after_s is None:
                    operator.metrics.forget(key)
                    return
                if loop.pause_s > 0:
                    await operator.clock.sleep(loop.pause_s)
                is_enqueued = True
                if requeue_after_s > 0:
                    is_enqueued = await operator.queue.wait(key, requeue_after_s)
        finally:
            await loop.close()


class ReconcileLoop:
    """The state of one object's loop between two reconciliations."""

    def __init__(self, kind: ReconciledKind, operator: OperatorContext, key: ObjectKey) -> None:
        self._kind = kind
        self._operator = operator
        self._key = key
        self._events = EventRecorder(operator.api, operator.identity, operator.clock)
        self._uid = ""
        self._reconciler: ObjectReconciler | None = None
        self._writer: StatusWriter | None = None
        self._failures = 0
        self._unchanged: Document | None = None
        """The object with its present status, if it need not be read until it is enqueued."""
        self.pause_s = kind.min_pause_s
        """The least time before the next reconciliation, also when the object is enqueued."""

    async def close(self) -> None:
        """Close the connections of the reconciler."""
        if self._reconciler is not None:
            await self._reconciler.close()

    async def reconcile_once(self, *, is_enqueued: bool = True) -> float | None:
        """Reconcile; return after how many seconds to do so again, None = never.

        ``is_enqueued``: something may have changed in Kubernetes since the last time.
        """
        clock = self._operator.clock
        began = clock.now()
        try:
            requeue_after_s = await self._reconcile(is_enqueued=is_enqueued)
        except KubernetesError as error:
            log.warning("%s: %s", self._key, error)
            return self._back_off(clock.now() - began)
        except Exception:
            # A bug that one object brings to light must not end the reconcilers of the others.
            log.exception("%s: the reconciliation has failed", self._key)
            return self._back_off(clock.now() - began)
        self._failures = 0
        duration_s = clock.now() - began
        self._count("ok", duration_s)
        if self._kind.min_pause_s:
            self.pause_s = max(self._kind.min_pause_s, min(MAX_SHARE_S, duration_s))
        if requeue_after_s is None or requeue_after_s < SHORT_REQUEUE_S:
            return requeue_after_s
        return max(requeue_after_s, min(MAX_SHARE_S, SHARE * duration_s))

    def _back_off(self, duration_s: float) -> float:
        if self._reconciler is not None:
            self._reconciler.forget()
        delay_s = min(MAX_BACK_OFF_S, FIRST_BACK_OFF_S * 2 ** min(self._failures, 10))
        self._failures += 1
        self._count("error", duration_s)
        return float(delay_s)

    def _count(self, result: str, duration_s: float) -> None:
        self._operator.metrics.count_reconciliation(self._kind.resource.kind, result, duration_s)

    async def _reconcile(self, *, is_enqueued: bool) -> float | None:
        unchanged, self._unchanged = self._unchanged, None
        if unchanged is not None and not is_enqueued and self._reconciler is not None:
            result = await self._reconciler.reconcile_unchanged(unchanged)
            if result is not None:
                return await self._apply(self._reconciler, unchanged, result)
        try:
            document = await self._operator.api.get(
                self._kind.resource, self._key.namespace, self._key.name
            )
        except NotFound:
            return None
        if "deletionTimestamp" in document["metadata"] and not _has_finalizer(document):
            return None
        reconciler = await self._reconciler_of(document)
        return await self._apply(reconciler, document, await reconciler.reconcile(document))

    async def _reconciler_of(self, document: Document) -> ObjectReconciler:
        """Return the reconciler of the object; a new one for another object of the same name."""
        uid = document["metadata"]["uid"]
        if self._reconciler is None or uid != self._uid:
            await self.close()
            self._uid, self._writer = uid, None
            self._reconciler = self._kind.open(self._operator, self._key)
        return self._reconciler

    # -- the effects of a result ---------------------------------------------------------------

    async def _apply(
        self, reconciler: ObjectReconciler, document: Document, result: Result
    ) -> float | None:
        if result.finalizer is not None and not await self._patch_finalizer(
            document, result.finalizer
        ):
            return REQUEUE_NOW
        await self._record(document, result.events)
        wait_s = await self._write_status(reconciler, document, result)
        if result.is_expired:
            await self._operator.api.delete(
                self._kind.resource, self._key.namespace, self._key.name, uid=self._uid
            )
        if result.has_ended:
            for key in await reconciler.dependents(document):
                self._operator.queue.enqueue(key)
        if result.is_unchanged_until_enqueued:
            is_written = result.status is not None and wait_s is None
            self._unchanged = {**document, "status": result.status} if is_written else document
        if result.requeue_after_s is None or wait_s is None:
            return result.requeue_after_s
        return min(result.requeue_after_s, wait_s)

    async def _record(self, document: Document, events: Iterable[ObjectEvent]) -> None:
        for event in events:
            await self._events.note(document, event.reason, event.message, warning=event.is_warning)

    async def _write_status(
        self, reconciler: ObjectReconciler, document: Document, result: Result
    ) -> float | None:
        """Write the status; return None, or the seconds to wait: the last write is too recent."""
        before = _status_of(document)
        status = before if result.status is None else result.status
        self._operator.metrics.record_status(self._key, status)
        if result.status is None:
            return None
        wait_s = await self._writer_for(before).write(status, urgent=result.is_urgent)
        if wait_s is None:
            self._operator.metrics.count_end_between(self._key, before, status)
            await self._record(document, reconciler.events_between(before, status))
        return wait_s

    def _writer_for(self, status: Status) -> StatusWriter:
        """Return the writer; a new one if another client has changed a condition of ours."""
        conditions = status.get("conditions", ())
        if self._writer is None or any(
            condition not in conditions for condition in self._writer.written.get("conditions", ())
        ):
            self._writer = StatusWriter(
                self._operator.api,
                self._kind.resource,
                self._key,
                self._operator.clock,
                written=status,
            )
        return self._writer

    async def _patch_finalizer(self, document: Document, change: Finalizer) -> bool:
        """Add or remove the finalizer; return False if the object has changed since it was read."""
        if _has_finalizer(document) is (change is Finalizer.ADD):
            return True
        metadata = document["metadata"]
        others = [name for name in metadata.get("finalizers") or () if name != CLEANUP_FINALIZER]
        finalizers = [*others, CLEANUP_FINALIZER] if change is Finalizer.ADD else others
        patch = [
            {
                "op": "test",
                "path": "/metadata/resourceVersion",
                "value": metadata["resourceVersion"],
            },
            {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
        ]
        try:
            await self._operator.api.patch(
                self._kind.resource,
                self._key.namespace,
                self._key.name,
                patch,
                patch_type=PatchType.JSON,
            )
        except Invalid:
            return False
        except NotFound:
            return True
        return True


def _has_finalizer(document: Document) -> bool:
    return CLEANUP_FINALIZER in (document["metadata"].get("finalizers") or ())


def _status_of(document: Mapping[str, Any]) -> Status:
    status = document.get("status")
    return status if isinstance(status, Mapping) else {}
