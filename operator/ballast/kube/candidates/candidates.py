"""A controller candidate for each BrokerSet that has a ZooKeeper, in every replica of the operator.

ZooKeeper alone decides which candidate is the controller, and fences it: no Lease is asked. A
candidate is started anew when what it is made of changes, or when it fails; settings that a
controller can be told are handed over. While the Kubernetes API does not answer, the candidates of
the BrokerSets seen last go on.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from ballast.candidate.cancellation import end_if_cancelled
from ballast.candidate.candidate import Candidate
from ballast.kube.api.ports import Change, ChangeType, KubernetesApi
from ballast.kube.api.resources import BROKER_SETS, Document, ObjectKey
from ballast.kube.candidates.candidate_specs import CandidateSpec, Cordons
from ballast.kube.runtime.logs import about
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

PAUSES_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Between starts of a candidate that fails again and again."""
STABLE_S: Final = 60.0
"""A candidate that ran for so long has not failed again and again."""

MakeCandidate = Callable[[CandidateSpec, Callable[[int], bool]], Candidate]
"""From what is asked for and "is this broker cordoned?"."""


class _Exchanged(Exception):
    """The BrokerSet has changed, so that this candidate has to go."""


@dataclass(slots=True, kw_only=True, eq=False)
class Seat:
    """One BrokerSet, as far as its candidate goes."""

    key: ObjectKey
    uid: str
    spec: CandidateSpec | None
    """None: there is to be no candidate."""
    cordons: Cordons
    candidate: Candidate | None = None
    is_gone: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def is_cordoned(self, broker_id: int) -> bool:
        """Whether a broker gets no new replicas, as things are now."""
        return self.cordons.covers(broker_id)

    async def until_exchanged(self) -> NoReturn:
        """Raise `_Exchanged` when the candidate has to go."""
        await self.changed.wait()
        raise _Exchanged

    @property
    def epoch(self) -> int | None:
        """The controller epoch while this candidate is the controller."""
        candidate = self.candidate
        leadership = candidate.leadership if candidate is not None and candidate.is_active else None
        return leadership.elected.controller_epoch if leadership is not None else None


class Candidates:
    """Follows the BrokerSets of some namespaces (None = all) and runs their candidates."""

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
        self._seats: dict[ObjectKey, Seat] = {}
        self._listed: set[str | None] = set()
        """The namespaces whose BrokerSets are known."""

    @property
    def seats(self) -> Sequence[Seat]:
        """Every BrokerSet there is, in order."""
        return [self._seats[key] for key in sorted(self._seats)]

    def candidate_of(self, key: ObjectKey) -> Candidate | None:
        """Return the candidate of a BrokerSet that runs now. Safe in any thread."""
        seat = self._seats.get(key)
        return None if seat is None else seat.candidate

    @property
    def is_standing_by(self) -> bool:
        """Whether all BrokerSets are known, and each candidate leads or knows who does."""
        candidates = [seat.candidate for seat in self._seats.values() if seat.spec is not None]
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
                for key in self._seats.keys() - listed:
                    if namespace in (None, key.namespace):
                        self._remove(key)
                listed = set()
                self._listed.add(namespace)
            else:
                key = self._take(change, tasks)
                if change.type is ChangeType.LISTED:
                    listed.add(key)

    def _take(self, change: Change, tasks: asyncio.TaskGroup) -> ObjectKey:
        metadata = change.document["metadata"]
        key = ObjectKey(BROKER_SETS.plural, metadata["namespace"], metadata["name"])
        seat = self._seats.get(key)
        if seat is not None and (change.type is ChangeType.DELETED or seat.uid != metadata["uid"]):
            self._remove(key)
            seat = None
        if change.type is ChangeType.DELETED:
            return key
        if seat is None:
            seat = _seat_of(key, change.document)
            self._seats[key] = seat
            tasks.create_task(self._serve(seat), name=f"candidate of {key}")
        else:
            _update(seat, change.document)
        return key

    def _remove(self, key: ObjectKey) -> None:
        seat = self._seats.pop(key)
        seat.is_gone = True
        seat.changed.set()

    async def _serve(self, seat: Seat) -> None:
        """Run the candidate of one BrokerSet, as often as that takes."""
        failures = 0
        with about(seat.key, seat.uid, lambda: seat.epoch):
            while not seat.is_gone:
                seat.changed.clear()
                begun_at = self._clock.now()
                if await self._run_one(seat):
                    failures = 0
                    continue
                if self._clock.now() >= begun_at + STABLE_S:
                    failures = 0
                await self._pause(seat, PAUSES_S[min(failures, len(PAUSES_S) - 1)])
                failures += 1

    async def _run_one(self, seat: Seat) -> bool:
        """Run one candidate; return whether it ended because the BrokerSet has changed."""
        if seat.spec is None:
            await seat.changed.wait()
            return True
        try:
            seat.candidate = self._make(seat.spec, seat.is_cordoned)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(seat.candidate.run())
                await seat.until_exchanged()
        except Exception as error:
            end_if_cancelled()
            if isinstance(error, ExceptionGroup) and error.split(_Exchanged)[1] is None:
                return True
            log.exception("the candidate failed and is started again")
            return False
        finally:
            seat.candidate = None

    async def _pause(self, seat: Seat, seconds: float) -> None:
        """Wait; not longer than until the BrokerSet changes."""
        async with asyncio.TaskGroup() as tasks:
            both = (
                tasks.create_task(self._clock.sleep(seconds)),
                tasks.create_task(seat.changed.wait()),
            )
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in both:
                task.cancel()


def _seat_of(key: ObjectKey, document: Document) -> Seat:
    spec = document.get("spec", {})
    return Seat(
        key=key,
        uid=document["metadata"]["uid"],
        spec=_candidate_spec(key, document),
        cordons=Cordons.from_spec(spec),
    )


def _update(seat: Seat, document: Document) -> None:
    """Take over what is asked for now; only what a candidate is made of starts another one."""
    seat.cordons = Cordons.from_spec(document.get("spec", {}))
    before, seat.spec = seat.spec, _candidate_spec(seat.key, document)
    if before is None or seat.spec is None:
        if before != seat.spec:
            seat.changed.set()
    elif before.needs_another(seat.spec):
        seat.changed.set()
    elif seat.candidate is not None:
        seat.candidate.options.controller.update(seat.spec.controller_options(seat.is_cordoned))


def _candidate_spec(key: ObjectKey, document: Document) -> CandidateSpec | None:
    try:
        return CandidateSpec.from_document(document)
    except ValueError as error:
        log.warning("%s gets no controller candidate: %s", key, error)
        return None
