"""Brokers whose volume is nearly full while replicas are moved: they get no more replicas for now.

A plan is checked against the volumes when it is made (`brokersets.room`). Producers go on writing
while it runs, and a broker whose volume is full loses its log directory with every replica in it.
"""

import logging
from typing import Final

from ballast.brokersets import names
from ballast.brokersets.errors import InvalidBrokerSet
from ballast.brokersets.observation.room import FULL_PERCENT, capacities, full_brokers
from ballast.brokersets.spec.parse import parse_broker_set
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, PERSISTENT_VOLUME_CLAIMS
from ballast.kube.broker_sets.kubernetes_views import volume_views
from ballast.kube.broker_sets.replica_room import read_room
from ballast.reassign.ports import Clock, ClusterAdmin, ClusterUnavailable

log = logging.getLogger(__name__)

REFRESH_S: Final = 30.0
"""The interval at which all live brokers are asked for the sizes of their logs."""


class FullVolumes:
    """Watches the volumes of the broker set whose partitions one reassignment moves."""

    def __init__(self, api: KubernetesApi, clock: Clock) -> None:
        self._api = api
        self._clock = clock
        self._looked_at: float | None = None
        self._full: frozenset[int] = frozenset()

    async def full_brokers(
        self, namespace: str, broker_set: str, admin: ClusterAdmin
    ) -> frozenset[int]:
        """Return the brokers that are, or will soon be, over `FULL_PERCENT` of their volume.

        Bytes that are being copied to a broker count as if they were there. An external set has no
        such brokers, because its volumes are not known. Raises `KubernetesError`.
        """
        now = self._clock.now()
        if self._looked_at is None or now - self._looked_at >= REFRESH_S:
            before, self._full = self._full, await self._find(namespace, broker_set, admin)
            self._looked_at = now
            if self._full != before:
                log.info(
                    "%s/%s: brokers over %s %% of their volume: %s",
                    namespace,
                    broker_set,
                    FULL_PERCENT,
                    sorted(self._full),
                )
        return self._full

    async def _find(self, namespace: str, broker_set: str, admin: ClusterAdmin) -> frozenset[int]:
        try:
            spec = parse_broker_set(await self._api.get(BROKER_SETS, namespace, broker_set))
        except InvalidBrokerSet:
            return frozenset()
        if spec.storage is None:
            return frozenset()
        labels = f"{names.SET_LABEL}={broker_set}"
        claims = await self._api.list(PERSISTENT_VOLUME_CLAIMS, namespace, labels=labels)
        try:
            view = await admin.describe_cluster()
            room = await read_room(admin, view, await admin.list_reassignments())
        except ClusterUnavailable:
            return self._full
        return full_brokers(room.held, capacities(spec, volume_views(broker_set, claims)))
