"""The kopf handlers: a routing table from watch events to `ReconcilerManager`.

Only ``on.event`` is used, so kopf keeps no state on the objects and needs no finalizer of its own.
The storages below write nothing: kopf never annotates an object.
"""

from typing import Any, Final

import kopf

from ballast.kube.api.credentials import Login, login_for_kopf
from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, Resource
from ballast.kube.reconcilers import OLD_FINALIZER, ReconcilerManager

RESOURCES: Final = (PARTITION_REASSIGNMENTS, BROKER_SETS)


def registry_for(manager: ReconcilerManager, login: Login) -> kopf.OperatorRegistry:
    """Return kopf's registry of this operator; kopf's global registry stays empty."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry, id="login")
    async def log_in(**_: Any) -> kopf.ConnectionInfo:
        return await login_for_kopf(login)

    for resource in RESOURCES:
        _register(registry, resource, manager)
    return registry


def _register(
    registry: kopf.OperatorRegistry, resource: Resource, manager: ReconcilerManager
) -> None:
    names = (resource.group, resource.version, resource.plural)

    @kopf.on.event(*names, registry=registry, id="event")
    async def on_event(event: Any, **_: Any) -> None:
        manager.observe_event(resource, event)


def make_settings() -> kopf.OperatorSettings:
    """Return kopf's settings; a setting that is not set here is unused, or good by default."""
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
    """Replaces kopf's record of the progress of change handlers: there are none."""

    def fetch(self, **_: Any) -> None:
        """Return no progress."""

    def store(self, **_: Any) -> None:
        """Write nothing."""

    def purge(self, **_: Any) -> None:
        """Write nothing."""

    def touch(self, **_: Any) -> None:
        """Write nothing: kopf removes the old finalizer without it."""

    def clear(self, *, essence: Any) -> Any:
        """Return the object unchanged."""
        return essence


class WritesNoDiffBase(kopf.DiffBaseStorage):
    """Replaces kopf's record of an object's last state, for change handlers: there are none."""

    def fetch(self, **_: Any) -> None:
        """Return no state."""

    def store(self, **_: Any) -> None:
        """Write nothing."""
