"""Writes one object's status: rate-limited, without repetitions, transitions at once."""

from collections.abc import Mapping
from typing import Any, Final

from ballast.kube.api.ports import KubernetesApi
from ballast.kube.api.resources import ObjectKey, Resource
from ballast.reassign.ports import Clock

INTERVAL_S: Final = 5.0
"""Minimum time between two writes of one object's status that are not transitions."""

Status = Mapping[str, Any]


class StatusWriter:
    """The status of one object, as this process last wrote it.

    ``written`` is the status as read from the API: it is not written again.
    """

    def __init__(
        self,
        api: KubernetesApi,
        resource: Resource,
        key: ObjectKey,
        clock: Clock,
        *,
        written: Status | None = None,
    ) -> None:
        self._api = api
        self._resource = resource
        self._key = key
        self._clock = clock
        self._written = written
        self._written_at: float | None = None

    @property
    def written(self) -> Status:
        """The status that the object has, as far as this writer knows."""
        return self._written or {}

    async def write(self, status: Status, *, urgent: bool = False) -> float | None:
        """Bring the object's status up to date, by server-side apply of all that is in it.

        Returns None when it is up to date, else the seconds after which to call again: the last
        write is too recent, and this one is not urgent. A change of a condition's status or reason
        is urgent by itself. Raises what `KubernetesApi.apply_status` raises.
        """
        if status == self._written:
            return None
        wait_s = self._wait_s()
        if wait_s > 0 and not urgent and _verdicts(status) == _verdicts(self._written or {}):
            return wait_s
        await self._api.apply_status(self._resource, self._key.namespace, self._key.name, status)
        self._written = status
        self._written_at = self._clock.now()
        return None

    def _wait_s(self) -> float:
        if self._written_at is None:
            return 0.0
        return self._written_at + INTERVAL_S - self._clock.now()


def _verdicts(status: Status) -> dict[str, tuple[str, str]]:
    """Return status and reason of each condition, by type."""
    return {
        condition["type"]: (condition["status"], condition["reason"])
        for condition in status.get("conditions", ())
    }
