"""Starts one reconciler per object when events arrive, and stops all of them at the end.

kopf's events say which objects exist and what of them changed. An object's reconciler runs while
there is something to do for it, and never twice at once; a change of the object, or of an object
that it depends on, puts its key into the work queue. When the reconciler returns, it is started
again only for another generation or another object of the same name.

Nothing here needs a finalizer: the reconciler of a deleted object ends when it next reads the
object, so that a namespace can be deleted together with the operator in it. Only a reassignment
that has changed a cluster has a finalizer (see `kube.reassignments.deletion`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey, Resource
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.logs import about

log = logging.getLogger(__name__)

RunReconciler = Callable[[OperatorContext, ObjectKey, Callable[[], bool]], Awaitable[None]]
"""Reconciles one object until there is nothing more to do for it.

The third argument returns True once the process ends; the function then returns as soon as it can.
"""

OLD_FINALIZER: Final = "ballast.dev/operator"
"""Earlier versions put it on every object. kopf removes it, because nothing needs it."""
RETRY_S: Final = 5.0
"""The pause after a reconciler raised an exception, which is a bug."""
STOP_TIMEOUT_S: Final = 2.0
"""How long a reconciler may run on once the process ends. A reconciler that waits for a cluster
without an answer is cancelled then. That is safe, as a kill is: the next process continues."""

RESOURCES: Final = {
    resource.plural: resource for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectDigest:
    """The parts of an object that decide whether it has to be reconciled.

    The status is not among them: reconcilers write it themselves, and must not wake each other by
    that.
    """

    uid: str
    generation: int
    is_being_deleted: bool
    finalizers: tuple[str, ...]
    metadata_hash: int
    """Of labels and annotations."""
    broker_set: str | None
    """The BrokerSet that a reassignment names."""
    config_map: str | None
    """The ConfigMap with the plan of a reassignment."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "ObjectDigest":
        """Return the digest of an object as the API server sent it."""
        metadata, spec = document["metadata"], document.get("spec", {})
        plan = spec.get("plan") or {}
        return cls(
            uid=metadata["uid"],
            generation=metadata.get("generation", 0),
            is_being_deleted="deletionTimestamp" in metadata,
            finalizers=tuple(metadata.get("finalizers", ())),
            metadata_hash=hash((*_items(metadata, "labels"), *_items(metadata, "annotations"))),
            broker_set=(spec.get("brokerSetRef") or {}).get("name"),
            config_map=(plan.get("configMapRef") or {}).get("name"),
        )


class ReconcilerManager:
    """Runs reconcilers. Belongs to one loop; ``tasks`` owns those that events start."""

    def __init__(
        self,
        operator: OperatorContext,
        run_reconciler: Mapping[Resource, RunReconciler],
        tasks: asyncio.TaskGroup,
    ) -> None:
        self._operator = operator
        self._run_reconciler = {
            resource.plural: function for resource, function in run_reconciler.items()
        }
        self._tasks = tasks
        self._objects: dict[ObjectKey, ObjectDigest] = {}
        """Every object that exists."""
        self._running: dict[ObjectKey, asyncio.Event] = {}
        """By object: the event that is set when its reconciler has returned."""
        self._finished: dict[ObjectKey, tuple[str, int]] = {}
        """The uid and generation for which a reconciler found nothing more to do."""
        self._timeouts: dict[ObjectKey, asyncio.Timeout] = {}
        """Cancels a reconciler that does not stop in time; unlimited until the process ends."""
        self.is_stopping = False
        """Whether the process ends: no reconciler is started any more."""

    # -- events --------------------------------------------------------------------------------

    def observe_event(self, resource: Resource, event: Mapping[str, Any]) -> None:
        """Take a watch event: wake the object's reconciler, or start one."""
        document = event["object"]
        metadata = document["metadata"]
        key = ObjectKey(resource.plural, metadata["namespace"], metadata["name"])
        before = self._objects.pop(key, None)
        if event["type"] == "DELETED":
            self._finished.pop(key, None)
            self._operator.metrics.forget(key)
        else:
            self._objects[key] = ObjectDigest.of(document)
        has_changed = self._objects.get(key) != before
        if resource == BROKER_SETS and has_changed:
            self._enqueue_reassignments_of(key)
        elif has_changed:
            self._enqueue_broker_set_of(key, before or self._objects[key])
        if key in self._running:
            if has_changed:
                self._operator.queue.enqueue(key)
        elif key in self._objects and self._must_start(key) and not self.is_stopping:
            self._tasks.create_task(self.run(key), name=f"reconciler of {key}")

    def keys(self, resource: Resource) -> Sequence[ObjectKey]:
        """Return all objects of a kind."""
        return [key for key in self._objects if key.plural == resource.plural]

    def reassignments_with(self, namespace: str, config_map: str) -> Iterator[ObjectKey]:
        """Yield the reassignments whose plan is in that ConfigMap."""
        for key, digest in list(self._objects.items()):
            if key.namespace == namespace and digest.config_map == config_map:
                yield key

    def _enqueue_reassignments_of(self, broker_set: ObjectKey) -> None:
        for key, digest in self._objects.items():
            names = (key.namespace, digest.broker_set)
            if names == (broker_set.namespace, broker_set.name) and key in self._running:
                self._operator.queue.enqueue(key)

    def _enqueue_broker_set_of(self, key: ObjectKey, digest: ObjectDigest) -> None:
        """Enqueue the BrokerSet that a reassignment names: the set may have created it."""
        broker_set = ObjectKey(BROKER_SETS.plural, key.namespace, digest.broker_set or "")
        if broker_set in self._running:
            self._operator.queue.enqueue(broker_set)

    def _must_start(self, key: ObjectKey) -> bool:
        digest = self._objects[key]
        if digest.is_being_deleted:
            return CLEANUP_FINALIZER in digest.finalizers
        return self._finished.get(key) != self._version_of(key)

    # -- reconcilers ---------------------------------------------------------------------------

    async def run(self, key: ObjectKey) -> None:
        """Reconcile an object until there is nothing more to do for it, or the process ends."""
        while key in self._running:
            # The reconciler of a deleted object of the same name has not returned yet.
            await self._running[key].wait()
        if self.is_stopping:
            return
        returned = self._running[key] = asyncio.Event()
        try:
            with about(key, self._version_of(key)[0] or None):
                await self._run_until_finished(key)
        finally:
            del self._running[key]
            returned.set()
            self._operator.queue.forget(key)

    async def stop(self) -> None:
        """Wait until every reconciler has returned; each is cancelled after `STOP_TIMEOUT_S`."""
        self.is_stopping = True
        for timeout in self._timeouts.values():
            timeout.reschedule(asyncio.get_running_loop().time() + STOP_TIMEOUT_S)
        running = dict(self._running)
        for key in running:
            # A reconciler that does not wait just now finds its key at the next wait.
            self._operator.queue.enqueue(key)
        for returned in running.values():
            await returned.wait()

    async def _run_until_finished(self, key: ObjectKey) -> None:
        while not self.is_stopping:
            version = self._version_of(key)
            try:
                await self._run_once(key)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None, "this is a coroutine"
                if task.cancelling():
                    raise
                # Not this reconciler was cancelled but something that it waited for. If it ended
                # here, the object would stay without a reconciler.
                log.exception("an awaitable of the reconciler was cancelled; it is started again")
                await self._operator.queue.wait(key, RETRY_S)
                continue
            except Exception:
                log.exception("the reconciler failed and is started again")
                await self._operator.queue.wait(key, RETRY_S)
                continue
            if self.is_stopping:
                return
            if key in self._objects:
                self._finished[key] = version
            if key not in self._objects or self._version_of(key) == version:
                return

    def _version_of(self, key: ObjectKey) -> tuple[str, int]:
        digest = self._objects.get(key)
        return ("", 0) if digest is None else (digest.uid, digest.generation)

    async def _run_once(self, key: ObjectKey) -> None:
        """Run the reconciler; raises what it raises, except its cancellation at the end."""
        timeout = self._timeouts[key] = asyncio.timeout(None)
        try:
            async with timeout:
                await self._run_reconciler[key.plural](
                    self._operator, key, lambda: self.is_stopping
                )
        except TimeoutError:
            if not timeout.expired():
                raise
            log.warning(
                "the reconciler did not stop within %.0f s and is cancelled", STOP_TIMEOUT_S
            )
        finally:
            del self._timeouts[key]


def _items(metadata: Mapping[str, Any], field: str) -> list[tuple[str, str]]:
    return sorted((metadata.get(field) or {}).items())
