"""The open resources of one reassignment: the connections to its cluster, its core reconciler.

All of them can be dropped at any time and opened again from what the API server and the cluster
have.
"""

from typing import Final

from ballast.kube.api.cluster_address import ClusterAddress
from ballast.kube.api.reassignment_object import ReassignmentObject
from ballast.kube.broker_sets.full_volumes import FullVolumes
from ballast.kube.reassignments.plan_pieces import PieceLoader
from ballast.kube.reassignments.state_store import ConfigMapStore, StoredObject
from ballast.kube.runtime.context import ClosableAdmin, OperatorContext
from ballast.reassign.reconcile import Reconciler

POLL_S: Final = 0.5
"""The interval of reconciliations while partitions move."""


class ReassignmentSession:
    """The open resources of one reassignment, from its uid on until it is gone."""

    def __init__(self, operator: OperatorContext) -> None:
        self.operator = operator
        self._bootstrap = ""
        self._admin: ClosableAdmin | None = None
        self._store: ConfigMapStore | None = None
        self._reconciler: Reconciler | None = None
        self.pieces = PieceLoader(operator.api)
        self.volumes = FullVolumes(operator.api, operator.clock)

    @property
    def state_objects(self) -> tuple[StoredObject, ...]:
        """The ConfigMaps with the saved state."""
        return () if self._store is None else self._store.objects

    @property
    def admin(self) -> ClosableAdmin:
        """The cluster's admin API, once `reconciler` has opened it."""
        assert self._admin is not None, "there is a reconciler"
        return self._admin

    async def discard_state(self) -> None:
        """Delete the saved state of a reassignment that has not begun.

        Raises `KubernetesError`.
        """
        if self._store is not None:
            await self._store.discard()
        self.forget()

    async def reconciler(
        self, reassignment: ReassignmentObject, cluster: ClusterAddress
    ) -> Reconciler:
        """Return the core reconciler of the object on its cluster.

        Raises `ValueError` when ``cluster.bootstrap`` is not a list of ``host:port``.
        """
        if cluster.bootstrap != self._bootstrap:
            await self.close()
        if self._admin is None:
            self._admin = self.operator.admin_for(cluster.bootstrap)
            self._bootstrap = cluster.bootstrap
        if self._reconciler is None:
            self._store = ConfigMapStore(self.operator.api, reassignment)
            self._reconciler = Reconciler(
                admin=self._admin,
                store=self._store,
                clock=self.operator.clock,
                poll_interval_s=POLL_S,
                conditions=reassignment.conditions,
            )
        return self._reconciler

    def forget(self) -> None:
        """Drop the core reconciler: after an error its state may differ from what is stored."""
        self._reconciler = self._store = None

    async def close(self) -> None:
        """Drop everything and close the connections."""
        self.forget()
        admin, self._admin, self._bootstrap = self._admin, None, ""
        if admin is not None:
            await admin.close()
