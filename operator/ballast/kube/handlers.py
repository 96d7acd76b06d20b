"""What kopf calls: a routing table, from events to `Tenders`.

Only ``on.event``: kopf keeps no state of it on the objects, and needs no finalizer for it. Its
storages write nothing, so that no annotation of kopf is ever put on an object.
"""

from typing import Any, Final

import kopf

from ballast.kube.api.credentials import Login, login_for_kopf
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, Resource
from ballast.kube.reconcilers import OLD_FINALIZER, Tenders

RESOURCES: Final = (PARTITION_REASSIGNMENTS, BROKER_SETS)


def registry_for(tenders: Tenders, login: Login) -> kopf.OperatorRegistry:
    """Return kopf's registry of this operator; nothing is put into kopf's own."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry, id="login")
    async def log_in(**_: Any) -> kopf.ConnectionInfo:
        return login_for_kopf(login)

    for resource in RESOURCES:
        _register(registry, resource, tenders)
    return registry


def _register(registry: kopf.OperatorRegistry, resource: Resource, tenders: Tenders) -> None:
    names = (resource.group, resource.version, resource.plural)

    @kopf.on.event(*names, registry=registry, id="saw")
    async def saw(event: Any, **_: Any) -> None:
        tenders.saw(resource, event)


def make_settings() -> kopf.OperatorSettings:
    """Return kopf's settings; what is not set here is never used, or good as it is."""
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    settings.persistence.finalizer = OLD_FINALIZER
    settings.persistence.progress_storage = WritesNoProgress()
    settings.persistence.diffbase_storage = WritesNoDiffBase()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.watching.connect_timeout = 10
    settings.watching.server_timeout = 300
    settings.networking.connect_timeout = 10
    settings.networking.request_timeout = 30
    settings.networking.error_backoffs = (1, 1, 2, 3, 5, 8, 13, 21)
    settings.queueing.worker_limit = 64
    return settings


class WritesNoProgress(kopf.ProgressStorage):
    """kopf's progress of change handlers, of which there are none."""

    def fetch(self, **_: Any) -> None:
        """Know of no progress."""

    def store(self, **_: Any) -> None:
        """Write nothing."""

    def purge(self, **_: Any) -> None:
        """Write nothing."""

    def touch(self, **_: Any) -> None:
        """Write nothing: `Tenders` takes the finalizer off itself."""

    def clear(self, *, essence: Any) -> Any:
        """Leave an object as it is."""
        return essence


class WritesNoDiffBase(kopf.DiffBaseStorage):
    """kopf's memory of what an object was like, for change handlers, of which there are none."""

    def fetch(self, **_: Any) -> None:
        """Know of nothing."""

    def store(self, **_: Any) -> None:
        """Write nothing."""
