"""Adds the object to log records: namespace, name, kind, uid, controllerEpoch."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey

Epoch = Callable[[], int | None]
"""Returns the present controller epoch, None when there is none."""

_KINDS: Final = {
    resource.plural: resource.kind for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS)
}
_KOPF_EXTRAS: Final = ("settings", "k8s_skip", "k8s_ref")

_fields: ContextVar[Mapping[str, str]] = ContextVar("fields")
_epoch: ContextVar[Epoch] = ContextVar("epoch")


@contextmanager
def about(key: ObjectKey, uid: str | None = None, epoch: Epoch | None = None) -> Iterator[None]:
    """Add the object to all records of the context, and of tasks that are started in it."""
    fields = {
        "namespace": key.namespace,
        "name": key.name,
        "kind": _KINDS.get(key.plural, key.plural),
    }
    if uid is not None:
        fields["uid"] = uid
    tokens = (_fields.set(fields), _epoch.set(epoch or _no_epoch))
    try:
        yield
    finally:
        _fields.reset(tokens[0])
        _epoch.reset(tokens[1])


class ObjectFields(logging.Filter):
    """Adds the fields to each record, for `net.logs.JsonFormatter` to show.

    Records of kopf get the same fields.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        extras = vars(record)
        reference: Any = extras.get("k8s_ref")
        for name in _KOPF_EXTRAS:
            extras.pop(name, None)
        fields: dict[str, object] = dict(_fields.get({}))
        if isinstance(reference, Mapping):
            fields = {name: reference.get(name) for name in ("namespace", "name", "kind", "uid")}
        epoch = _epoch.get(_no_epoch)()
        if epoch is not None:
            fields["controllerEpoch"] = epoch
        if fields:
            extras["fields"] = fields
        return True


def _no_epoch() -> None:
    return None
