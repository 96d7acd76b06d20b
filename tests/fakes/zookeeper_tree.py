"""The fake ZooKeeper's znodes: one order of transactions, each applied as a whole or not at all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ballast.zk.client import (
    ANY_VERSION,
    Check,
    Create,
    Delete,
    Operation,
    OperationResult,
    SetData,
    Stat,
    WatchEvent,
    WatchKind,
)
from ballast.zk.errors import (
    BadVersion,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    ZooKeeperError,
)


class AppliedOperation(NamedTuple):
    """One part of a transaction as it was applied."""

    name: str
    """``create``, ``set``, ``delete`` or ``check``."""
    path: str
    data: bytes = b""
    version: int = 0
    """Version after the write; of a check, the version that matched."""
    is_ephemeral: bool = False


@dataclass(slots=True)
class Znode:
    """One znode."""

    data: bytes
    czxid: int
    ctime_ms: int
    owner: int
    mzxid: int
    mtime_ms: int
    pzxid: int
    version: int = 0
    children_made: int = 0
    """Creations of children: the next sequence number."""
    children: dict[str, None] = field(default_factory=dict)

    def stat(self) -> Stat:
        return Stat(
            czxid=self.czxid,
            mzxid=self.mzxid,
            ctime_ms=self.ctime_ms,
            mtime_ms=self.mtime_ms,
            version=self.version,
            # ZooKeeper stores creations and shows creations plus deletions (DataNode.copyStat).
            cversion=2 * self.children_made - len(self.children),
            ephemeral_owner=self.owner,
        )


class Refused(Exception):
    """A transaction was refused; nothing of it was applied."""

    def __init__(self, index: int, error: ZooKeeperError) -> None:
        super().__init__(index, error)
        self.index = index
        self.error = error


@dataclass(slots=True)
class Transaction:
    """What one transaction did."""

    zxid: int
    results: list[OperationResult]
    applied: list[AppliedOperation]
    events: list[WatchEvent]


class ZnodeTree:
    """The tree after all transactions so far."""

    def __init__(self) -> None:
        self.zxid = 0
        self.nodes: dict[str, Znode] = {"/": Znode(b"", 0, 0, 0, 0, 0, 0)}
        self.ephemerals: dict[int, dict[str, None]] = {}

    def apply(self, operations: Sequence[Operation], session_id: int, now_ms: int) -> Transaction:
        """Apply all operations as the next transaction, or raise `Refused`."""
        work = _Work(self, session_id, now_ms)
        for index, operation in enumerate(operations):
            try:
                work.do(operation)
            except ZooKeeperError as error:
                work.undo()
                raise Refused(index, error) from None
        self.zxid = work.zxid
        return Transaction(self.zxid, work.results, work.applied, work.events)

    def owned_by(self, session_id: int) -> list[str]:
        """Return the ephemeral znodes of a session."""
        return list(self.ephemerals.get(session_id, ()))


class _Work:
    """One transaction in the making, with what takes each step back."""

    def __init__(self, tree: ZnodeTree, session_id: int, now_ms: int) -> None:
        self.tree = tree
        self.zxid = tree.zxid + 1
        self.session_id = session_id
        self.now_ms = now_ms
        self.results: list[OperationResult] = []
        self.applied: list[AppliedOperation] = []
        self.events: list[WatchEvent] = []
        self._undo: list[Callable[[], None]] = []

    def undo(self) -> None:
        for step in reversed(self._undo):
            step()

    def do(self, operation: Operation) -> None:
        match operation:
            case Create():
                self._create(operation)
            case SetData():
                self._set(operation)
            case Delete():
                self._delete(operation)
            case Check():
                node = self._expect(operation.path, operation.version)
                self._note(AppliedOperation("check", operation.path, version=node.version), None)

    def _expect(self, path: str, version: int) -> Znode:
        node = self.tree.nodes.get(path)
        if node is None:
            raise NoNode(path)
        if version not in (ANY_VERSION, node.version):
            raise BadVersion(path)
        return node

    def _note(self, applied: AppliedOperation, result: OperationResult) -> None:
        self.applied.append(applied)
        self.results.append(result)

    def _create(self, operation: Create) -> None:
        nodes = self.tree.nodes
        path = operation.path
        above = parent_of(path)
        parent = nodes.get(above)
        if parent is None:
            raise NoNode(path)
        if operation.sequential:
            path = f"{path}{parent.children_made:010d}"
        if path in nodes:
            raise NodeExists(path)
        if parent.owner:
            raise NoChildrenForEphemerals(path)
        owner = self.session_id if operation.ephemeral else 0
        zxid, now_ms = self.zxid, self.now_ms
        node = Znode(operation.data, zxid, now_ms, owner, zxid, now_ms, zxid)
        name, pzxid = path.rpartition("/")[2], parent.pzxid
        nodes[path] = node
        parent.children[name] = None
        parent.children_made += 1
        parent.pzxid = zxid
        if owner:
            self.tree.ephemerals.setdefault(owner, {})[path] = None

        def undo() -> None:
            del nodes[path], parent.children[name]
            parent.children_made -= 1
            parent.pzxid = pzxid
            if owner:
                del self.tree.ephemerals[owner][path]

        self._undo.append(undo)
        self.events += [WatchEvent(WatchKind.CREATED, path), WatchEvent(WatchKind.CHILD, above)]
        self._note(AppliedOperation("create", path, operation.data, 0, operation.ephemeral), path)

    def _set(self, operation: SetData) -> None:
        node = self._expect(operation.path, operation.version)
        before = (node.data, node.version, node.mzxid, node.mtime_ms)
        node.data, node.mzxid, node.mtime_ms = operation.data, self.zxid, self.now_ms
        node.version += 1

        def undo() -> None:
            node.data, node.version, node.mzxid, node.mtime_ms = before

        self._undo.append(undo)
        self.events.append(WatchEvent(WatchKind.CHANGED, operation.path))
        self._note(
            AppliedOperation("set", operation.path, operation.data, node.version), node.stat()
        )

    def _delete(self, operation: Delete) -> None:
        path = operation.path
        node = self._expect(path, operation.version)
        if node.children:
            raise NotEmpty(path)
        nodes = self.tree.nodes
        above = parent_of(path)
        parent, name = nodes[above], path.rpartition("/")[2]
        pzxid = parent.pzxid
        del nodes[path], parent.children[name]
        parent.pzxid = self.zxid
        if node.owner:
            del self.tree.ephemerals[node.owner][path]

        def undo() -> None:
            nodes[path] = node
            parent.children[name] = None
            parent.pzxid = pzxid
            if node.owner:
                self.tree.ephemerals[node.owner][path] = None

        self._undo.append(undo)
        self.events += [WatchEvent(WatchKind.DELETED, path), WatchEvent(WatchKind.CHILD, above)]
        self._note(AppliedOperation("delete", path), None)


def parent_of(path: str) -> str:
    """Return the path of a znode's parent."""
    return path.rpartition("/")[0] or "/"
