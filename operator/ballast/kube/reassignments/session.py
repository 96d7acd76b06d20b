"""The live things of one reassignment while it is tended: connections, reconciler, status, Events.

All of it can be thrown away at any time and made again from what the API server and the cluster
have.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.errors import Invalid, NotFound
from ballast.kube.api.events import EventRecorder
from ballast.kube.api.ports import PatchType
from ballast.kube.api.reassignment_object import CLEANUP_FINALIZER, ReassignmentObject
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey
from ballast.kube.api.status_writer import StatusWriter
from ballast.kube.broker_sets.full_volumes import FullVolumes
from ballast.kube.reassignments.plan_pieces import PieceLoader
from ballast.kube.reassignments.queue import others_of
from ballast.kube.reassignments.state_store import ConfigMapStore, StoredObject
from ballast.kube.reassignments.status import StatusDocument, steady
from ballast.kube.runtime.condition_events import condition_events
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.reassign.reconcile import Reconciler
from ballast.reassign.state.conditions import FINAL_STATUS, ConditionType, conditions_from_documents

log = logging.getLogger(__name__)

POLL_S: Final = 0.5
"""Between two looks at moves that are under way."""


class ReassignmentSession:
    """What one reconciler holds between two looks."""

    def __init__(self, operator: OperatorContext, key: ObjectKey) -> None:
        self.operator = operator
        self.key = key
        self.events = EventRecorder(operator.api, operator.identity, operator.clock)
        self._uid = ""
        self._bootstrap = ""
        self._admin: ClosableAdmin | None = None
        self._store: ConfigMapStore | None = None
        self._reconciler: Reconciler | None = None
        self._writer: StatusWriter | None = None
        self._written: Mapping[str, Any] = {}
        self.pieces = PieceLoader(operator.api)
        self.volumes = FullVolumes(operator.api, operator.clock)

    @property
    def state_objects(self) -> tuple[StoredObject, ...]:
        """The ConfigMaps that hold what is remembered."""
        return () if self._store is None else self._store.objects

    @property
    def admin(self) -> ClosableAdmin:
        """The cluster, once `reconciler` has found it."""
        assert self._admin is not None, "there is a reconciler"
        return self._admin

    async def discard(self) -> None:
        """Forget, here and where it is stored, what was remembered of a move that has not begun.

        Raises `KubernetesError`.
        """
        if self._store is not None:
            await self._store.discard()
        self.forget()

    async def see(self) -> ReassignmentObject:
        """Read the object. Raises `NotFound` when it is gone, and other `KubernetesError`."""
        document = await self.operator.api.get(
            PARTITION_REASSIGNMENTS, self.key.namespace, self.key.name
        )
        seen = ReassignmentObject(document=document)
        if seen.uid != self._uid:
            await self.close()
            self._uid, self._writer = seen.uid, None
        return seen

    async def reconciler(self, seen: ReassignmentObject, cluster: ClusterAddress) -> Reconciler:
        """Return the reconciler of the object on its cluster.

        Raises `ValueError` when the cluster's address is none.
        """
        if cluster.bootstrap != self._bootstrap:
            await self.close()
        if self._admin is None:
            self._admin = self.operator.admin_for(cluster.bootstrap)
            self._bootstrap = cluster.bootstrap
        if self._reconciler is None:
            self._store = ConfigMapStore(self.operator.api, seen)
            self._reconciler = Reconciler(
                admin=self._admin,
                store=self._store,
                clock=self.operator.clock,
                poll_interval_s=POLL_S,
                conditions=seen.conditions,
            )
        return self._reconciler

    def forget(self) -> None:
        """Drop what is remembered here: after an error it may not be what is stored."""
        self._reconciler = self._store = None

    async def close(self) -> None:
        """Drop everything and close the connections."""
        self.forget()
        admin, self._admin, self._bootstrap = self._admin, None, ""
        if admin is not None:
            await admin.close()

    async def report(
        self, seen: ReassignmentObject, document: StatusDocument, *, urgent: bool = False
    ) -> float | None:
        """Write the status if it says anything new, and tell what is worth an Event.

        Returns None, or the seconds after which to report again: it was too soon. Raises
        `KubernetesError`.
        """
        before = ReassignmentObject(
            document={**seen.document, "status": self._written or seen.status}
        )
        document = steady(document, before.status)
        wait_s = await self._writer_for(seen).write(document, urgent=urgent)
        self.operator.metrics.record_status(self.key, document)
        if wait_s is not None:
            return wait_s
        self._written = document
        now = conditions_from_documents(document["conditions"])
        state = now[ConditionType.SUCCEEDED].reason if ConditionType.SUCCEEDED in now else ""
        if state in FINAL_STATUS and before.state not in FINAL_STATUS:
            self.operator.metrics.count_end(state)
        for event in condition_events(seen.conditions, now):
            await self.events.note(
                seen.document, event.reason, event.message, warning=event.is_warning
            )
        return None

    def _writer_for(self, seen: ReassignmentObject) -> StatusWriter:
        """Return the writer; a new one when somebody else has written since."""
        is_ours = self._written.get("conditions") == seen.status.get("conditions")
        if self._writer is None or not is_ours:
            self._written = seen.status
            self._writer = StatusWriter(
                self.operator.api,
                PARTITION_REASSIGNMENTS,
                self.key,
                self.operator.clock,
                written=seen.status,
            )
        return self._writer

    async def hold(self, seen: ReassignmentObject) -> bool:
        """Put our finalizer on; return whether it is there now. Raises `KubernetesError`."""
        return await self._set_finalizers(seen, [*seen.finalizers, CLEANUP_FINALIZER])

    async def release(self, seen: ReassignmentObject) -> bool:
        """Take our finalizer off; return whether it is gone now. Raises `KubernetesError`."""
        if not seen.has_finalizer:
            return True
        left = [name for name in seen.finalizers if name != CLEANUP_FINALIZER]
        return await self._set_finalizers(seen, left)

    async def _set_finalizers(self, seen: ReassignmentObject, finalizers: list[str]) -> bool:
        metadata = seen.document["metadata"]
        patch = [
            {
                "op": "test",
                "path": "/metadata/resourceVersion",
                "value": metadata["resourceVersion"],
            },
            {"op": "add", "path": "/metadata/finalizers", "value": finalizers},
        ]
        try:
            await self.operator.api.patch(
                PARTITION_REASSIGNMENTS,
                seen.namespace,
                seen.name,
                patch,
                patch_type=PatchType.JSON,
            )
        except Invalid:
            return False  # Somebody has changed the object meanwhile.
        except NotFound:
            return True
        return True

    async def wake_others(self, seen: ReassignmentObject) -> None:
        """Let the broker set and who waits behind this one look again: it has ended.

        Raises `KubernetesError`.
        """
        for other in await others_of(self.operator.api, seen):
            if other.state not in FINAL_STATUS:
                self.operator.queue.enqueue(other.key)
        self.operator.queue.enqueue(ObjectKey(BROKER_SETS.plural, seen.namespace, seen.broker_set))
