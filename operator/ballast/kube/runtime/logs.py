"""Log lines that say which object they are about: namespace, name, kind, uid, controllerEpoch."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from ballast.kube.api.resources import BROKER_SETS, PARTITION_REASSIGNMENTS, ObjectKey

Epoch = Callable[[], int | None]
"""Tells the controller epoch of the moment, None when there is none to tell."""

_KINDS: Final = {
    resource.plural: resource.kind for resource in (PARTITION_REASSIGNMENTS, BROKER_SETS)
}
_KOPF_EXTRAS: Final = ("settings", "k8s_skip", "k8s_ref")

_fields: ContextVar[Mapping[str, str]] = ContextVar("fields")
_epoch: ContextVar[Epoch] = ContextVar("epoch")


@contextmanager
def about(key: ObjectKey, uid: str | None = None, epoch: Epoch | None = None) -> Iterator[None]:
    """Let what is logged within, and in tasks started within, name the object."""
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

    kopf's own way of naming an object becomes the same.
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
