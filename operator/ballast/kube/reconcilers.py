"""One tender for each object, started by what events tell of it.

An object is tended whenever there is something to do, never by two at a time. None has a finalizer
for that: an object that is deleted is missed at the next look, and a namespace can be deleted
together with the operator in it. Only what has to be taken back in a cluster keeps its object.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey, Resource
from ballast.kube.runtime.context import OperatorContext
from ballast.kube.runtime.logs import about

log = logging.getLogger(__name__)

Tend = Callable[[OperatorContext, ObjectKey, Callable[[], bool]], Awaitable[None]]
"""Tends one object from the first sight until there is nothing more to do.

The third argument tells whether the process ends: then it leaves as soon as it can. That the object
is being deleted it sees from the object, when it was woken.
"""

OLD_FINALIZER: Final = "ballast.dev/operator"
"""Earlier versions put it on every object. kopf takes it off, as nothing here needs it."""
CLEANUP_FINALIZER: Final = "ballast.dev/cleanup"
"""The tender's own."""
RETRY_S: Final = 5.0
"""After a tender that failed, which it never should."""
LEAVE_S: Final = 2.0
"""How long a tender may go on once the process ends. One that is cancelled then, because it waits
for a cluster that does not answer, leaves things as a killed process does: the next one goes on."""

RESOURCES: Final = {
    resource.plural: resource for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS)
}


class Tenders:
    """Runs tenders. Belongs to one loop; ``tasks`` owns those that events start."""

    def __init__(
        self, operator: OperatorContext, tend: Mapping[Resource, Tend], tasks: asyncio.TaskGroup
    ) -> None:
        self._operator = operator
        self._tend = {resource.plural: function for resource, function in tend.items()}
        self._tasks = tasks
        self._seen: dict[ObjectKey, Mapping[str, Any]] = {}
        """Every object there is, by what of it is needed here: metadata, and what it names."""
        self._running: dict[ObjectKey, asyncio.Event] = {}
        """Set when the tender has returned."""
        self._done_at: dict[ObjectKey, tuple[str, int]] = {}
        """The uid and generation at which a tender found nothing more to do."""
        self._limits: dict[ObjectKey, asyncio.Timeout] = {}
        """What cancels each tender that has not left in time; without an end until then."""
        self.is_stopping = False
        """Whether the process ends: nothing is begun any more."""

    # -- what events tell ----------------------------------------------------------------------

    def saw(self, resource: Resource, event: Mapping[str, Any]) -> None:
        """Take an event about an object: wake its tender, or start one."""
        document = event["object"]
        metadata = document["metadata"]
        key = ObjectKey(resource.plural, metadata["namespace"], metadata["name"])
        before = self._seen.pop(key, None)
        if event["type"] == "DELETED":
            self._done_at.pop(key, None)
            self._operator.metrics.forget(key)
        else:
            self._seen[key] = _digest_of(document)
        has_changed = self._seen.get(key) != before
        if resource == BROKER_SETS and has_changed:
            self._wake_reassignments_of(key)
        elif has_changed:
            self._wake_broker_set_of(key, before or self._seen[key])
        if key in self._running:
            # What tenders write themselves, the status, is no reason to look again.
            if has_changed:
                self._operator.wakes.wake(key)
        elif key in self._seen and self._must_be_started(key) and not self.is_stopping:
            self._tasks.create_task(self.tend(key), name=f"tender of {key}")

    def keys(self, resource: Resource) -> Sequence[ObjectKey]:
        """Return all objects of a kind."""
        return [key for key in self._seen if key.plural == resource.plural]

    def reassignments_with(self, namespace: str, config_map: str) -> Iterator[ObjectKey]:
        """Yield the reassignments whose plan is in that ConfigMap."""
        for key, digest in list(self._seen.items()):
            if key.namespace == namespace and digest["configMap"] == config_map:
                yield key

    def _wake_reassignments_of(self, broker_set: ObjectKey) -> None:
        for key, digest in self._seen.items():
            names = (key.namespace, digest["brokerSet"])
            if names == (broker_set.namespace, broker_set.name) and key in self._running:
                self._operator.wakes.wake(key)

    def _wake_broker_set_of(self, key: ObjectKey, digest: Mapping[str, Any]) -> None:
        """Wake the set that a reassignment names: it may have made it."""
        broker_set = ObjectKey(BROKER_SETS.plural, key.namespace, digest["brokerSet"] or "")
        if broker_set in self._running:
            self._operator.wakes.wake(broker_set)

    def _must_be_started(self, key: ObjectKey) -> bool:
        digest = self._seen[key]
        if digest["isGoing"]:
            return CLEANUP_FINALIZER in digest["finalizers"]
        return self._done_at.get(key) != (digest["uid"], digest["generation"])

    # -- tenders -------------------------------------------------------------------------------

    async def tend(self, key: ObjectKey) -> None:
        """Tend an object until there is nothing more to do for it, or the process ends."""
        while key in self._running:
            # The one of an object of the same name that is just going.
            await self._running[key].wait()
        if self.is_stopping:
            return
        ended = self._running[key] = asyncio.Event()
        try:
            with about(key, self._seen.get(key, {}).get("uid")):
                await self._until_done(key)
        finally:
            del self._running[key]
            ended.set()
            self._operator.wakes.forget(key)

    async def stop(self) -> None:
        """Let every tender leave within `LEAVE_S`; return when all have, or when cancelled."""
        self.is_stopping = True
        for limit in self._limits.values():
            limit.reschedule(asyncio.get_running_loop().time() + LEAVE_S)
        running = dict(self._running)
        for key in running:
            # Kept for those that are just not waiting.
            self._operator.wakes.wake(key)
        for ended in running.values():
            await ended.wait()

    async def _until_done(self, key: ObjectKey) -> None:
        while not self.is_stopping:
            version = self._version_of(key)
            try:
                await self._tend_once(key)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None, "this is a coroutine"
                if task.cancelling():
                    raise
                # Not this tender was cancelled, but something that it waited for: were that its
                # end, nobody would tend the object any more.
                log.exception("what the tender waited for was cancelled; it is started again")
                await self._operator.wakes.wait(key, RETRY_S)
                continue
            except Exception:
                log.exception("the tender failed and is started again")
                await self._operator.wakes.wait(key, RETRY_S)
                continue
            if self.is_stopping:
                return
            if key in self._seen:
                self._done_at[key] = version
            if key not in self._seen or self._version_of(key) == version:
                return

    def _version_of(self, key: ObjectKey) -> tuple[str, int]:
        digest = self._seen.get(key, {})
        return digest.get("uid", ""), digest.get("generation", 0)

    async def _tend_once(self, key: ObjectKey) -> None:
        """Run the tender; raises what it raises, unless that is being cancelled in the end."""
        limit = self._limits[key] = asyncio.timeout(None)
        try:
            async with limit:
                await self._tend[key.plural](self._operator, key, lambda: self.is_stopping)
        except TimeoutError:
            if not limit.expired():
                raise
            log.warning("the tender did not leave within %.0f s and is cancelled", LEAVE_S)
        finally:
            del self._limits[key]


def _digest_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the little of an object that is kept for all objects."""
    metadata = document["metadata"]
    spec = document.get("spec", {})
    plan = spec.get("plan") or {}
    return {
        "uid": metadata["uid"],
        "generation": metadata.get("generation", 0),
        "isGoing": "deletionTimestamp" in metadata,
        "finalizers": tuple(metadata.get("finalizers", ())),
        "marks": hash((*_items(metadata, "labels"), *_items(metadata, "annotations"))),
        "brokerSet": (spec.get("brokerSetRef") or {}).get("name"),
        "configMap": (plan.get("configMapRef") or {}).get("name"),
    }


def _items(metadata: Mapping[str, Any], field: str) -> list[tuple[str, str]]:
    return sorted((metadata.get(field) or {}).items())
