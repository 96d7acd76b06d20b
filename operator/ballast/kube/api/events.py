"""Kubernetes Events about objects: few, specific, repeats counted (events.k8s.io/v1)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from ballast.kube.api.errors import KubernetesError, NotFound
from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import EVENTS, Document
from ballast.reassign.ports import Clock

log = logging.getLogger(__name__)

INTERVAL_S: Final = 60.0
"""Minimum time between two writes of the same note about the same object."""
BURST: Final = 5
"""Maximum number of Events of one reason about one object within `INTERVAL_S`."""
MAX_REMEMBERED: Final = 2_000
MAX_NOTE: Final = 1_000
"""Characters; the API server accepts up to 1024 bytes."""
REPORTER: Final = "ballast.dev/operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded:
    """One Event that was written, and how often its reason occurred."""

    namespace: str
    name: str
    note: str
    written_at: float
    count: int
    interval_at: float
    """When the interval began in which `created` Events of this reason were created."""
    created: int

    def permits(self, note: str, now: float) -> bool:
        """Whether the note differs and the burst of this reason is not used up."""
        is_fresh = now >= self.interval_at + INTERVAL_S or self.created < BURST
        return note != self.note and is_fresh


class EventRecorder:
    """Writes Events in the name of one process."""

    def __init__(self, api: KubernetesApi, identity: str, clock: Clock) -> None:
        self._api = api
        self._identity = identity
        self._clock = clock
        self._recorded: dict[tuple[str, str], _Recorded] = {}
        """By uid of the object and reason, in the order of writing."""
        self._serial = 0

    async def note(
        self, involved: Mapping[str, Any], reason: str, message: str, *, warning: bool = False
    ) -> None:
        """Record that something happened to ``involved``; ``reason`` is one CamelCase word.

        A repetition within `INTERVAL_S` is only counted, and so is every note after `BURST` others
        of the same reason. Never raises: an Event that cannot be written is logged.
        """
        note = message[:MAX_NOTE]
        key = (involved["metadata"]["uid"], reason)
        before = self._recorded.get(key)
        now = self._clock.now()
        if (
            before is not None
            and now < before.written_at + INTERVAL_S
            and not before.permits(note, now)
        ):
            self._recorded[key] = replace(before, count=before.count + 1)
            return
        try:
            recorded = await self._write(before, involved, reason, note, warning)
        except KubernetesError as error:
            log.warning("event %s about %s is lost: %s", reason, _name(involved), error)
            return
        self._recorded.pop(key, None)
        self._recorded[key] = recorded
        if len(self._recorded) > MAX_REMEMBERED:
            del self._recorded[next(iter(self._recorded))]

    async def _write(
        self,
        before: _Recorded | None,
        involved: Mapping[str, Any],
        reason: str,
        note: str,
        warning: bool,
    ) -> _Recorded:
        """Raise the count of the existing Event if its note is the same, or create a new one."""
        if before is not None and before.note == note:
            try:
                return await self._count(before)
            except NotFound:
                pass  # Events live for an hour only.
        event = await self._create(involved, reason, note, warning)
        if before is None or event.written_at >= before.interval_at + INTERVAL_S:
            return event
        return replace(event, interval_at=before.interval_at, created=before.created + 1)

    async def _count(self, before: _Recorded) -> _Recorded:
        count = before.count + 1
        series = {"count": count, "lastObservedTime": self._micro_time()}
        await self._api.patch(EVENTS, before.namespace, before.name, {"series": series})
        return replace(before, count=count, written_at=self._clock.now())

    async def _create(
        self, involved: Mapping[str, Any], reason: str, note: str, warning: bool
    ) -> _Recorded:
        metadata = involved["metadata"]
        namespace = metadata.get("namespace", "default")
        self._serial += 1
        # The name is built as client-go does: the object's name and a unique number.
        name = f"{metadata['name'][:200]}.{self._clock.wall_ms() * 1_000_000 + self._serial:x}"
        document: Document = {
            "metadata": {"name": name, "namespace": namespace},
            "eventTime": self._micro_time(),
            "reportingController": REPORTER,
            "reportingInstance": self._identity,
            "action": reason,
            "reason": reason,
            "note": note,
            "type": "Warning" if warning else "Normal",
            "regarding": {
                "apiVersion": involved["apiVersion"],
                "kind": involved["kind"],
                "namespace": namespace,
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
        }
        await self._api.create(EVENTS, namespace, document)
        now = self._clock.now()
        return _Recorded(
            namespace=namespace,
            name=name,
            note=note,
            written_at=now,
            count=1,
            interval_at=now,
            created=1,
        )

    def _micro_time(self) -> str:
        moment = datetime.fromtimestamp(self._clock.wall_ms() / 1000, tz=UTC)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _name(involved: Mapping[str, Any]) -> str:
    return (
        f"{involved['kind']} {involved['metadata'].get('namespace')}/{involved['metadata']['name']}"
    )
