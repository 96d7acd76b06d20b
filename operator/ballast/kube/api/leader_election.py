"""Who of several processes acts: a Lease, as client-go's leader election keeps it.

==============  =========================================================================
free            nobody's, or its holder has let it go: take it
ours            renew it every `retry_s`
somebody's      its renewal was *seen to change* less than its duration ago: look again
left behind     it has not changed for its duration, by our own clock: take it
==============  =========================================================================

Clocks of different machines are never compared. A process that could not renew for
`renew_deadline_s` has lost it, which is before another one can take it, and must have stopped
acting when `duration_s` is over: `LeaseLost`. It may run for it again.
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ballast.kube.api.errors import AlreadyExists, Conflict, KubernetesError, LeaseLost, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import LEASES, Document
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

NAME: Final = "ballast-operator"
"""The Lease of operators that are given no other; two in one namespace must not share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """Seconds: duration > renew deadline > retry."""

    duration_s: float = 15.0
    """How long others leave a Lease alone that is not renewed."""
    renew_deadline_s: float = 10.0
    """How long its holder goes on acting without having renewed it."""
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not self.duration_s > self.renew_deadline_s > self.retry_s > 0:
            raise ValueError(
                "of a lease, duration must be longer than renew deadline, and that than retry"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseObservation:
    """A Lease as somebody holds it, and since when it has looked like that."""

    holder: str
    renewed: str
    """``renewTime``, only compared with itself."""
    duration_s: float
    since: float
    """On our own clock."""

    @classmethod
    def of(
        cls, lease: Document, before: "LeaseObservation | None", now: float
    ) -> "LeaseObservation":
        """Return what is seen of a Lease; its age counts from the first sight of a renewal."""
        spec = lease.get("spec", {})
        holder = spec.get("holderIdentity") or ""
        renewed = spec.get("renewTime") or ""
        same = before is not None and (before.holder, before.renewed) == (holder, renewed)
        return cls(
            holder=holder,
            renewed=renewed,
            duration_s=float(spec.get("leaseDurationSeconds") or 0),
            since=before.since if same and before is not None else now,
        )

    def may_be_taken(self, identity: str, now: float) -> bool:
        """Whether ``identity`` may hold the Lease from now on."""
        return self.holder in ("", identity) or now >= self.since + self.duration_s


class LeaseElector:
    """Acquires, keeps and releases one Lease for one process."""

    def __init__(
        self,
        api: KubernetesApi,
        namespace: str,
        identity: str,
        clock: Clock,
        timing: LeaseTiming,
        name: str = NAME,
    ) -> None:
        self._name = name
        self._api = api
        self._namespace = namespace
        self._identity = identity
        self._clock = clock
        self._timing = timing
        self._held: Document | None = None
        """The Lease as we last wrote it."""
        self.renewed_at = -timing.renew_deadline_s
        """When the last renewal that worked was begun."""

    @property
    def is_held(self) -> bool:
        """Whether this process may act at this very moment."""
        deadline = self.renewed_at + self._timing.renew_deadline_s
        return self._held is not None and self._clock.now() < deadline

    async def acquire(self) -> None:
        """Return as soon as the Lease is ours."""
        sighting: LeaseObservation | None = None
        while True:
            try:
                sighting = await self._try(sighting)
            except KubernetesError as error:
                log.warning("cannot look at the lease: %s", error)
            if self._held is not None:
                log.info("holding the lease %s/%s", self._namespace, self._name)
                return
            await self._clock.sleep(self._timing.retry_s)

    async def keep(self) -> None:
        """Renew for ever; raises `LeaseLost` when that did not work for too long."""
        while True:
            await self._clock.sleep(self._timing.retry_s)
            left_s = self.renewed_at + self._timing.renew_deadline_s - self._clock.now()
            try:
                # One request that hangs must not take all the time that there is.
                async with asyncio.timeout(min(left_s, self._timing.renew_deadline_s / 2)):
                    await self._renew()
            except TimeoutError:
                log.warning("renewing the lease takes too long")
            except Conflict:
                await self._look_at_conflict()
            except KubernetesError as error:
                log.warning("cannot renew the lease: %s", error)
            if not self.is_held:
                self._held = None
                raise LeaseLost(f"the lease {self._namespace}/{self._name} was not renewed in time")

    async def release(self) -> None:
        """Let the Lease go, so that another process need not wait; it may fail."""
        if self._held is None:
            return
        lease, self._held = self._held, None
        spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        try:
            await self._api.replace(LEASES, self._namespace, self._name, {**lease, "spec": spec})
        except KubernetesError as error:
            log.warning("cannot release the lease: %s", error)

    async def _try(self, before: LeaseObservation | None) -> LeaseObservation | None:
        """Take the Lease if that is allowed; return what was seen."""
        begun_at = self._clock.now()
        try:
            lease = await self._api.get(LEASES, self._namespace, self._name)
        except NotFound:
            await self._create(begun_at)
            return None
        sighting = LeaseObservation.of(lease, before, begun_at)
        if sighting.may_be_taken(self._identity, begun_at):
            try:
                await self._write(lease, sighting.holder != self._identity, begun_at)
            except Conflict:
                log.info("another process was faster at the lease")
        return sighting

    async def _renew(self) -> None:
        assert self._held is not None, "only what is held can be renewed"
        await self._write(self._held, False, self._clock.now())

    async def _look_at_conflict(self) -> None:
        """Somebody wrote the Lease: if it was ourselves (the answer got lost), go on with that."""
        try:
            lease = await self._api.get(LEASES, self._namespace, self._name)
        except KubernetesError as error:
            log.warning("cannot look at the lease: %s", error)
            return
        holder = lease.get("spec", {}).get("holderIdentity")
        self._held = lease if holder == self._identity else None

    async def _create(self, begun_at: float) -> None:
        document = {"metadata": {"name": self._name, "namespace": self._namespace}}
        spec = self._spec({}, is_transition=False)
        try:
            self._held = await self._api.create(LEASES, self._namespace, {**document, "spec": spec})
            self.renewed_at = begun_at
        except AlreadyExists:
            log.info("another process was faster at the lease")

    async def _write(self, lease: Document, is_transition: bool, begun_at: float) -> None:
        spec = self._spec(lease.get("spec", {}), is_transition)
        self._held = await self._api.replace(
            LEASES, self._namespace, self._name, {**lease, "spec": spec}
        )
        self.renewed_at = begun_at

    def _spec(self, before: dict[str, Any], is_transition: bool) -> dict[str, Any]:
        moment = datetime.fromtimestamp(self._clock.wall_ms() / 1000, tz=UTC)
        now = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        transitions = before.get("leaseTransitions") or 0
        return {
            **before,
            "holderIdentity": self._identity,
            "leaseDurationSeconds": round(self._timing.duration_s),
            "acquireTime": now if is_transition or not before else before.get("acquireTime", now),
            "renewTime": now,
            "leaseTransitions": transitions + 1 if is_transition else transitions,
        }
