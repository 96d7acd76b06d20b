"""A Kubernetes API in memory: implements `ballast.kube.api.ports.KubernetesApi`.

What holds, as with the API server: resourceVersion grows with every write and a write that changes
nothing is none; generation grows with the spec (any field outside metadata and status); status is
written through its subresource only, for kinds that have one; server-side apply takes away what the
manager applied before and does not any more; an object with finalizers is deleted when the last of
them goes; what is owned by a deleted object goes with it; a watch yields each event once.

What does not: no schemas, defaults or CEL rules, no controllers, one field manager.
"""

import copy
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from ballast.kube.api.errors import (
    AlreadyExists,
    ApiUnavailable,
    Conflict,
    Invalid,
    KubernetesError,
    NotFound,
)
from ballast.kube.api.ports import Change, ChangeType, PatchType
from ballast.kube.api.resources import (
    BROKER_SETS,
    NODES,
    PARTITION_REASSIGNMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    Document,
    Resource,
)
from tests.fakes.kubernetes_objects import (
    TestFailed,
    apply_merge,
    fields_of,
    json_patch,
    merge_patch,
    selects,
    strategic_merge,
)
from tests.fakes.kubernetes_watch import Watcher, is_selected

WITH_STATUS = {
    PARTITION_REASSIGNMENTS,
    BROKER_SETS,
    PODS,
    NODES,
    SERVICES,
    PERSISTENT_VOLUME_CLAIMS,
    STATEFUL_SETS,
    POD_DISRUPTION_BUDGETS,
}
"""Kinds whose status is a subresource."""

SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")
NOW = "2026-01-01T00:00:00Z"

Name = tuple[str | None, str]


class FakeKubernetes:
    """The server and its client in one. Tests look into it with `find` and `all`."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str | None, str]] = []
        """Every call: verb, plural, namespace, name; status writes are of ``plural/status``."""
        self.now = NOW
        """Timestamps of creation and deletion."""
        self._objects: dict[Resource, dict[Name, Document]] = defaultdict(dict)
        self._applied: dict[tuple[str, bool], Mapping[str, Any]] = {}
        """What was applied, by uid and whether it was the status."""
        self._watchers: dict[Watcher, None] = {}
        self._failures: dict[str, deque[KubernetesError]] = defaultdict(deque)
        self._version = 0

    # -- for tests -----------------------------------------------------------------------------

    def fail_next(self, verb: str, error: KubernetesError | None = None, *, times: int = 1) -> None:
        """Let the next calls of a method of the port fail; they change nothing."""
        self._failures[verb].extend([error or ApiUnavailable(f"{verb} got no answer")] * times)

    def put(self, resource: Resource, document: Mapping[str, Any]) -> Document:
        """Store an object as it is, status included, whether it was there or not; return it."""
        new = copy.deepcopy(dict(document))
        namespace = new["metadata"].get("namespace") if resource.is_namespaced else None
        old = self.find(resource, namespace, new["metadata"]["name"])
        if old is None:
            return self._add(resource, namespace, new)
        return self._store(resource, old, new)

    def find(self, resource: Resource, namespace: str | None, name: str) -> Document | None:
        """Return one object, or None."""
        found = self._objects[resource].get((namespace, name))
        return copy.deepcopy(found)

    def all(self, resource: Resource) -> list[Document]:
        """Return all objects of a kind, in the order in which they were made."""
        return copy.deepcopy(list(self._objects[resource].values()))

    def relist(self) -> None:
        """Let every watch begin again, as after a break."""
        for watcher in self._watchers:
            watcher.begin(self._objects[watcher.resource].values())

    # -- the port ------------------------------------------------------------------------------

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Document:
        """Return one object; raises `NotFound`."""
        self._called("get", resource, namespace, name)
        return copy.deepcopy(self._existing(resource, namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        fields: str | None = None,
    ) -> Sequence[Document]:
        """Return all objects that match the selectors."""
        self._called("list", resource, namespace, "")
        return [
            copy.deepcopy(document)
            for document in self._objects[resource].values()
            if is_selected(document, namespace, labels) and selects(fields, fields_of(document))
        ]

    async def watch(
        self,
        resource: Resource,
        namespace: str | None,
        *,
        labels: str | None = None,
        is_metadata_only: bool = False,
    ) -> AsyncIterator[Change]:
        """Yield LISTED objects, then SYNCED, then every change; never ends."""
        self._called("watch", resource, namespace, "")
        watcher = Watcher(resource, namespace, labels, is_metadata_only)
        watcher.begin(self._objects[resource].values())
        self._watchers[watcher] = None
        try:
            while True:
                yield await watcher.changes.get()
        finally:
            del self._watchers[watcher]

    async def create(
        self, resource: Resource, namespace: str | None, document: Mapping[str, Any]
    ) -> Document:
        """Create an object; raises `AlreadyExists`, `Invalid`."""
        new = copy.deepcopy(dict(document))
        metadata = new.setdefault("metadata", {})
        if "name" not in metadata and "generateName" in metadata:
            metadata["name"] = f"{metadata['generateName']}{self._version:05d}"
        name = metadata.get("name", "")
        self._called("create", resource, namespace, name)
        if not name:
            raise Invalid("metadata.name: Required value", status=422, reason="Invalid")
        if (namespace, name) in self._objects[resource]:
            raise AlreadyExists(f"{name} exists", status=409, reason="AlreadyExists")
        if resource in WITH_STATUS:
            new.pop("status", None)
        return self._add(resource, namespace, new)

    async def apply(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Server-side apply of all but the status."""
        self._called("apply", resource, namespace, name)
        applied = {key: copy.deepcopy(document[key]) for key in document.keys() - {"status"}}
        if resource not in WITH_STATUS and "status" in document:
            applied["status"] = document["status"]
        applied["metadata"] = {**applied.get("metadata", {}), "name": name}
        old = self._objects[resource].get((namespace, name))
        if old is None:
            stored = self._add(resource, namespace, apply_merge({}, applied, None))
        else:
            _check_preconditions(old, applied["metadata"])
            before = self._applied.get((old["metadata"]["uid"], False))
            stored = self._store(resource, old, apply_merge(old, _own(applied), before))
        self._applied[stored["metadata"]["uid"], False] = _own(applied)
        return stored

    async def apply_status(
        self, resource: Resource, namespace: str | None, name: str, status: Mapping[str, Any]
    ) -> Document:
        """Server-side apply of the status; raises `NotFound`."""
        self._called("apply_status", resource, namespace, name)
        old = self._existing(resource, namespace, name)
        key = (old["metadata"]["uid"], True)
        merged = apply_merge(old.get("status"), status, self._applied.get(key))
        self._applied[key] = copy.deepcopy(dict(status))
        return self._store(resource, old, {**old, "status": merged})

    async def replace(
        self, resource: Resource, namespace: str | None, name: str, document: Mapping[str, Any]
    ) -> Document:
        """Put an object on condition of its resourceVersion; raises `Conflict`."""
        self._called("replace", resource, namespace, name)
        old = self._existing(resource, namespace, name)
        new = copy.deepcopy(dict(document))
        _check_preconditions(old, new["metadata"])
        return self._store(resource, old, _with_status_of(old, new, resource))

    async def patch(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        patch_type: PatchType = PatchType.MERGE,
        subresource: str | None = None,
    ) -> Document:
        """Change some fields; raises `NotFound`, `Conflict`, `Invalid`."""
        self._called("patch", resource, namespace, name, subresource)
        old = self._existing(resource, namespace, name)
        if isinstance(patch, Mapping):
            _check_preconditions(old, patch.get("metadata", {}))
            merge = strategic_merge if patch_type is PatchType.STRATEGIC else merge_patch
            patched = merge(old, patch)
        else:
            try:
                patched = json_patch(old, patch)
            except TestFailed as error:
                raise Invalid(str(error), status=422, reason="Invalid") from error
        if subresource == "status":
            patched = {**old, "status": patched.get("status")}
        else:
            patched = _with_status_of(old, patched, resource)
        return self._store(resource, old, patched)

    async def delete(
        self, resource: Resource, namespace: str | None, name: str, *, uid: str | None = None
    ) -> None:
        """Ask for an object's deletion; raises `NotFound`, `Conflict`."""
        self._called("delete", resource, namespace, name)
        old = self._existing(resource, namespace, name)
        if uid is not None:
            _check_preconditions(old, {"uid": uid})
        self._delete(resource, old)

    # -- inside --------------------------------------------------------------------------------

    def _called(
        self,
        verb: str,
        resource: Resource,
        namespace: str | None,
        name: str,
        subresource: str | None = None,
    ) -> None:
        assert resource.is_namespaced or namespace is None, f"{resource.plural} have no namespace"
        assert not (name and resource.is_namespaced and not namespace), f"{name} has no namespace"
        status = verb == "apply_status" or subresource is not None
        plural = f"{resource.plural}/{subresource or 'status'}" if status else resource.plural
        self.requests.append((verb, plural, namespace, name))
        if self._failures[verb]:
            raise self._failures[verb].popleft()

    def _existing(self, resource: Resource, namespace: str | None, name: str) -> Document:
        found = self._objects[resource].get((namespace, name))
        if found is None:
            raise NotFound(f"{resource.plural} {name!r} not found", status=404, reason="NotFound")
        return found

    def _next_version(self) -> str:
        self._version += 1
        return str(self._version)

    def _add(self, resource: Resource, namespace: str | None, document: Document) -> Document:
        version = self._next_version()
        metadata = {
            "creationTimestamp": self.now,
            "uid": f"uid-{version}",
            "generation": 1,
            **document["metadata"],
            "resourceVersion": version,
        }
        if namespace is not None:
            metadata["namespace"] = namespace
        stored = {
            **document,
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": metadata,
        }
        self._objects[resource][namespace, metadata["name"]] = stored
        self._tell(resource, ChangeType.ADDED, stored)
        return copy.deepcopy(stored)

    def _store(self, resource: Resource, old: Document, new: Document) -> Document:
        """Store a changed object; what the server alone writes is as it was."""
        metadata = {**new["metadata"]}
        for field in SERVER_FIELDS:
            metadata.pop(field, None)
            if field in old["metadata"]:
                metadata[field] = old["metadata"][field]
        new = {
            **{name: value for name, value in new.items() if value is not None},
            "apiVersion": old["apiVersion"],
            "kind": old["kind"],
            "metadata": metadata,
        }
        if new == old:
            return copy.deepcopy(old)
        if _spec_of(new) != _spec_of(old):
            metadata["generation"] = old["metadata"]["generation"] + 1
        metadata["resourceVersion"] = self._next_version()
        name = (metadata.get("namespace"), metadata["name"])
        if "deletionTimestamp" in metadata and not metadata.get("finalizers"):
            self._remove(resource, name, new)
        else:
            self._objects[resource][name] = new
            self._tell(resource, ChangeType.MODIFIED, new)
        return copy.deepcopy(new)

    def _delete(self, resource: Resource, old: Document) -> None:
        metadata = old["metadata"]
        name = (metadata.get("namespace"), metadata["name"])
        if not metadata.get("finalizers"):
            gone = {**old, "metadata": {**metadata, "resourceVersion": self._next_version()}}
            self._remove(resource, name, gone)
        elif "deletionTimestamp" not in metadata:
            metadata = {
                **metadata,
                "deletionTimestamp": self.now,
                "generation": metadata["generation"] + 1,
                "resourceVersion": self._next_version(),
            }
            self._objects[resource][name] = going = {**old, "metadata": metadata}
            self._tell(resource, ChangeType.MODIFIED, going)

    def _remove(self, resource: Resource, name: Name, gone: Document) -> None:
        """Take an object away, and in the background what it owns."""
        del self._objects[resource][name]
        self._tell(resource, ChangeType.DELETED, gone)
        uid = gone["metadata"]["uid"]
        for owned_resource, owned in list(self._owned_by(uid)):
            owners = owned["metadata"]["ownerReferences"]
            if not any(self._lives(owner["uid"]) for owner in owners):
                self._delete(owned_resource, owned)

    def _owned_by(self, uid: str) -> Iterator[tuple[Resource, Document]]:
        for resource, objects in self._objects.items():
            for document in objects.values():
                owners = document["metadata"].get("ownerReferences", ())
                if any(owner["uid"] == uid for owner in owners):
                    yield resource, document

    def _lives(self, uid: str) -> bool:
        return any(
            document["metadata"]["uid"] == uid
            for objects in self._objects.values()
            for document in objects.values()
        )

    def _tell(self, resource: Resource, kind: ChangeType, document: Document) -> None:
        for watcher in self._watchers:
            if watcher.resource == resource:
                watcher.tell(kind, document)


def _check_preconditions(old: Document, metadata: Mapping[str, Any]) -> None:
    for field in ("resourceVersion", "uid"):
        if metadata.get(field) not in (None, old["metadata"][field]):
            message = f"{field} is {old['metadata'][field]}, not {metadata[field]}"
            raise Conflict(message, status=409, reason="Conflict")


def _own(applied: Document) -> Document:
    """Return an applied object without what only the server writes."""
    metadata = {k: v for k, v in applied["metadata"].items() if k not in SERVER_FIELDS}
    return {**applied, "metadata": metadata}


def _with_status_of(old: Document, new: Document, resource: Resource) -> Document:
    return {**new, "status": old.get("status")} if resource in WITH_STATUS else new


def _spec_of(document: Document) -> Document:
    return {key: document[key] for key in document.keys() - {"metadata", "status"}}
