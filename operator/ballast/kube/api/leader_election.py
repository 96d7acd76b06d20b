"""Leader election by a Lease, after client-go's rules: one of several processes acts.

==============  =========================================================================
free            it has no holder, or its holder has released it: acquire it
ours            renew it every `retry_s`
another's       `renewTime` has *changed* less than the Lease's duration ago: read it again
expired         it has not changed for its duration, by our own clock: acquire it
==============  =========================================================================

Clocks of different machines are never compared. A process that could not renew the Lease for
`renew_deadline_s` has lost it (`LeaseLost`). Another process can acquire it only after
`duration_s`: until then the first one must have stopped acting. It may run for the Lease again.
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
"""The default name of the Lease; two operators in one namespace must have two Leases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTiming:
    """Seconds: duration > renew deadline > retry."""

    duration_s: float = 15.0
    """After this time without renewal another process may acquire the Lease."""
    renew_deadline_s: float = 10.0
    """For this time its holder acts without having renewed it."""
    retry_s: float = 2.0

    def __post_init__(self) -> None:
        if not self.duration_s > self.renew_deadline_s > self.retry_s > 0:
            raise ValueError(
                "a lease's duration must exceed its renew deadline, and that its retry period"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseObservation:
    """A Lease as it was read, and since when it has had this holder and renewal."""

    holder: str
    renewed: str
    """``renewTime``: only compared for equality."""
    duration_s: float
    unchanged_since: float
    """On our own clock, in seconds."""

    @classmethod
    def of(
        cls, lease: Document, previous: "LeaseObservation | None", now: float
    ) -> "LeaseObservation":
        """Return the observation of a Lease that was read ``now``."""
        spec = lease.get("spec", {})
        holder = spec.get("holderIdentity") or ""
        renewed = spec.get("renewTime") or ""
        unchanged_since = now
        if previous is not None and (previous.holder, previous.renewed) == (holder, renewed):
            unchanged_since = previous.unchanged_since
        return cls(
            holder=holder,
            renewed=renewed,
            duration_s=float(spec.get("leaseDurationSeconds") or 0),
            unchanged_since=unchanged_since,
        )

    def is_available_to(self, identity: str, now: float) -> bool:
        """Whether ``identity`` may acquire the Lease."""
        return self.holder in ("", identity) or now >= self.unchanged_since + self.duration_s


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
        self._lease: Document | None = None
        """The Lease as this process last wrote it; None while it does not hold it."""
        self.renewed_at = -timing.renew_deadline_s
        """When the last successful renewal was begun."""

    @property
    def is_held(self) -> bool:
        """Whether this process may act now."""
        deadline = self.renewed_at + self._timing.renew_deadline_s
        return self._lease is not None and self._clock.now() < deadline

    async def acquire(self) -> None:
        """Return as soon as this process holds the Lease."""
        observation: LeaseObservation | None = None
        while True:
            try:
                observation = await self._try_to_acquire(observation)
            except KubernetesError as error:
                log.warning("cannot read the lease: %s", error)
            if self._lease is not None:
                log.info("holding the lease %s/%s", self._namespace, self._name)
                return
            await self._clock.sleep(self._timing.retry_s)

    async def keep(self) -> None:
        """Renew the Lease until cancelled; raises `LeaseLost` if that fails for too long."""
        while True:
            await self._clock.sleep(self._timing.retry_s)
            left_s = self.renewed_at + self._timing.renew_deadline_s - self._clock.now()
            try:
                # One request that hangs must not use up the whole time.
                async with asyncio.timeout(min(left_s, self._timing.renew_deadline_s / 2)):
                    await self._renew()
            except TimeoutError:
                log.warning("renewing the lease takes too long")
            except Conflict:
                await self._resolve_conflict()
            except KubernetesError as error:
                log.warning("cannot renew the lease: %s", error)
            if not self.is_held:
                self._lease = None
                raise LeaseLost(f"the lease {self._namespace}/{self._name} was not renewed in time")

    async def release(self) -> None:
        """Release the Lease, so that another process need not wait. A failure is only logged."""
        if self._lease is None:
            return
        lease, self._lease = self._lease, None
        spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        try:
            await self._api.replace(LEASES, self._namespace, self._name, {**lease, "spec": spec})
        except KubernetesError as error:
            log.warning("cannot release the lease: %s", error)

    async def _try_to_acquire(self, previous: LeaseObservation | None) -> LeaseObservation | None:
        """Acquire the Lease if it is available; return the observation."""
        begun_at = self._clock.now()
        try:
            lease = await self._api.get(LEASES, self._namespace, self._name)
        except NotFound:
            await self._create(begun_at)
            return None
        observation = LeaseObservation.of(lease, previous, begun_at)
        if observation.is_available_to(self._identity, begun_at):
            try:
                await self._write(lease, observation.holder != self._identity, begun_at)
            except Conflict:
                log.info("another process was faster at the lease")
        return observation

    async def _renew(self) -> None:
        assert self._lease is not None, "only the holder renews"
        await self._write(self._lease, False, self._clock.now())

    async def _resolve_conflict(self) -> None:
        """Read the Lease again: it was written by this process, whose response was lost, or not."""
        try:
            lease = await self._api.get(LEASES, self._namespace, self._name)
        except KubernetesError as error:
            log.warning("cannot read the lease: %s", error)
            return
        holder = lease.get("spec", {}).get("holderIdentity")
        self._lease = lease if holder == self._identity else None

    async def _create(self, begun_at: float) -> None:
        document = {"metadata": {"name": self._name, "namespace": self._namespace}}
        spec = self._spec({}, is_transition=False)
        try:
            self._lease = await self._api.create(
                LEASES, self._namespace, {**document, "spec": spec}
            )
            self.renewed_at = begun_at
        except AlreadyExists:
            log.info("another process was faster at the lease")

    async def _write(self, lease: Document, is_transition: bool, begun_at: float) -> None:
        spec = self._spec(lease.get("spec", {}), is_transition)
        self._lease = await self._api.replace(
            LEASES, self._namespace, self._name, {**lease, "spec": spec}
        )
        self.renewed_at = begun_at

    def _spec(self, previous: dict[str, Any], is_transition: bool) -> dict[str, Any]:
        moment = datetime.fromtimestamp(self._clock.wall_ms() / 1000, tz=UTC)
        now = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        transitions = previous.get("leaseTransitions") or 0
        return {
            **previous,
            "holderIdentity": self._identity,
            "leaseDurationSeconds": round(self._timing.duration_s),
            "acquireTime": now
            if is_transition or not previous
            else previous.get("acquireTime", now),
            "renewTime": now,
            "leaseTransitions": transitions + 1 if is_transition else transitions,
        }
