"""A controller candidate for each BrokerSet with a ZooKeeper, in every replica of the operator.

ZooKeeper alone elects and fences the controller; no Lease is involved. A candidate is replaced when
its `CandidateSpec` requires another one, and restarted when it fails; settings that a controller
can change at runtime are passed to it. While the Kubernetes API is unavailable, the candidates of
the known BrokerSets continue.

BrokerSets are watched here, not by kopf, which runs only in the replica that holds the Lease.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from ballast.candidate.candidate import Candidate, end_if_cancelled
from ballast.kube.api.ports import Change, ChangeType, KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, Document, ObjectKey
from ballast.kube.candidates.candidate_specs import CandidateSpec, Cordons
from ballast.kube.runtime.logs import about
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

RESTART_DELAYS_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Between consecutive restarts of a failing candidate."""
STABLE_S: Final = 60.0
"""A candidate that ran for this time starts with the first delay again."""

MakeCandidate = Callable[[CandidateSpec, Callable[[int], bool]], Candidate]
"""Makes a candidate; the second argument returns whether a broker is cordoned."""


class _Replaced(Exception):
    """The BrokerSet has changed, so that this candidate ends."""


@dataclass(slots=True, kw_only=True, eq=False)
class CandidateSlot:
    """One BrokerSet and its candidate."""

    key: ObjectKey
    uid: str
    spec: CandidateSpec | None
    """None: this BrokerSet gets no candidate."""
    cordons: Cordons
    candidate: Candidate | None = None
    is_deleted: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def is_cordoned(self, broker_id: int) -> bool:
        """Whether a broker currently gets no new replicas."""
        return self.cordons.covers(broker_id)

    async def until_replaced(self) -> NoReturn:
        """Raise `_Replaced` when the candidate has to end."""
        await self.changed.wait()
        raise _Replaced

    @property
    def epoch(self) -> int | None:
        """The controller epoch while this candidate is the controller."""
        candidate = self.candidate
        term = candidate.controller_term if candidate is not None and candidate.is_active else None
        return term.elected.controller_epoch if term is not None else None


class Candidates:
    """Watches the BrokerSets of some namespaces (None = all) and runs their candidates."""

    def __init__(
        self,
        api: KubernetesApi,
        namespaces: Sequence[str | None],
        make: MakeCandidate,
        clock: Clock,
    ) -> None:
        self._api = api
        self._namespaces = namespaces
        self._make = make
        self._clock = clock
        self._slots: dict[ObjectKey, CandidateSlot] = {}
        self._listed: set[str | None] = set()
        """The namespaces whose BrokerSets have been listed."""

    @property
    def slots(self) -> Sequence[CandidateSlot]:
        """All BrokerSets, sorted by key."""
        return [self._slots[key] for key in sorted(self._slots)]

    def candidate_of(self, key: ObjectKey) -> Candidate | None:
        """Return the running candidate of a BrokerSet. Safe in any thread."""
        slot = self._slots.get(key)
        return None if slot is None else slot.candidate

    @property
    def is_standing_by(self) -> bool:
        """Whether all BrokerSets are listed, and each candidate leads or knows the leader."""
        candidates = [slot.candidate for slot in self._slots.values() if slot.spec is not None]
        return self._listed.issuperset(self._namespaces) and all(
            candidate is not None and (candidate.is_active or candidate.lost_to is not None)
            for candidate in candidates
        )

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for namespace in self._namespaces:
                tasks.create_task(self._follow(namespace, tasks))

    async def _follow(self, namespace: str | None, tasks: asyncio.TaskGroup) -> None:
        listed: set[ObjectKey] = set()
        async for change in self._api.watch(BROKER_SETS, namespace):
            if change.type is ChangeType.SYNCED:
                for key in self._slots.keys() - listed:
                    if namespace in (None, key.namespace):
                        self._remove(key)
                listed = set()
                self._listed.add(namespace)
            else:
                key = self._apply(change, tasks)
                if change.type is ChangeType.LISTED:
                    listed.add(key)

    def _apply(self, change: Change, tasks: asyncio.TaskGroup) -> ObjectKey:
        metadata = change.document["metadata"]
        key = ObjectKey(BROKER_SETS.plural, metadata["namespace"], metadata["name"])
        slot = self._slots.get(key)
        if slot is not None and (change.type is ChangeType.DELETED or slot.uid != metadata["uid"]):
            self._remove(key)
            slot = None
        if change.type is ChangeType.DELETED:
            return key
        if slot is None:
            slot = _slot_of(key, change.document)
            self._slots[key] = slot
            tasks.create_task(self._serve(slot), name=f"candidate of {key}")
        else:
            _update(slot, change.document)
        return key

    def _remove(self, key: ObjectKey) -> None:
        slot = self._slots.pop(key)
        slot.is_deleted = True
        slot.changed.set()

    async def _serve(self, slot: CandidateSlot) -> None:
        """Run candidates of one BrokerSet, one after the other, until it is deleted."""
        failures = 0
        with about(slot.key, slot.uid, lambda: slot.epoch):
            while not slot.is_deleted:
                slot.changed.clear()
                begun_at = self._clock.now()
                if await self._run_one(slot):
                    failures = 0
                    continue
                if self._clock.now() >= begun_at + STABLE_S:
                    failures = 0
                await self._wait(slot, RESTART_DELAYS_S[min(failures, len(RESTART_DELAYS_S) - 1)])
                failures += 1

    async def _run_one(self, slot: CandidateSlot) -> bool:
        """Run one candidate; return whether it ended because the BrokerSet has changed."""
        if slot.spec is None:
            await slot.changed.wait()
            return True
        try:
            slot.candidate = self._make(slot.spec, slot.is_cordoned)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(slot.candidate.run())
                await slot.until_replaced()
        except Exception as error:
            end_if_cancelled()
            if isinstance(error, ExceptionGroup) and error.split(_Replaced)[1] is None:
                return True
            log.exception("the candidate failed and is started again")
            return False
        finally:
            slot.candidate = None

    async def _wait(self, slot: CandidateSlot, delay_s: float) -> None:
        """Wait for the delay, or until the BrokerSet changes."""
        async with asyncio.TaskGroup() as tasks:
            waits = (
                tasks.create_task(self._clock.sleep(delay_s)),
                tasks.create_task(slot.changed.wait()),
            )
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for task in waits:
                task.cancel()


def _slot_of(key: ObjectKey, document: Document) -> CandidateSlot:
    spec = document.get("spec", {})
    return CandidateSlot(
        key=key,
        uid=document["metadata"]["uid"],
        spec=_candidate_spec(key, document),
        cordons=Cordons.from_spec(spec),
    )


def _update(slot: CandidateSlot, document: Document) -> None:
    """Apply a changed BrokerSet: to the running candidate if it can change, else by a new one."""
    slot.cordons = Cordons.from_spec(document.get("spec", {}))
    previous, slot.spec = slot.spec, _candidate_spec(slot.key, document)
    if previous is None or slot.spec is None:
        if previous != slot.spec:
            slot.changed.set()
    elif previous.needs_another(slot.spec):
        slot.changed.set()
    elif slot.candidate is not None:
        slot.candidate.options.controller.update(slot.spec.controller_options(slot.is_cordoned))


def _candidate_spec(key: ObjectKey, document: Document) -> CandidateSpec | None:
    try:
        return CandidateSpec.from_document(document)
    except ValueError as error:
        log.warning("%s gets no controller candidate: %s", key, error)
        return None
