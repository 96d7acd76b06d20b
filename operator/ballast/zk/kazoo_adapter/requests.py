"""ZooKeeper requests in the form that kazoo's connection sends: multi, MultiRead and single ones.

kazoo's own multi drops results and builds objects per operation; it has no MultiRead (opcode 22),
which reads a thousand znodes in one round trip. Formats: ZooKeeper's ``zookeeper.jute``.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

from ballast.zk.client import Check, Create, Delete, Operation, OperationResult, SetData, Stat
from ballast.zk.errors import (
    BadVersion,
    MultiFailed,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    RequestFailed,
    SessionExpired,
    ZooKeeperError,
)

_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_HEADER = struct.Struct(">i?i")
_STAT = struct.Struct(">qqqqiiiqiiq")
_END = _HEADER.pack(-1, True, -1)
_OPEN_ACL = b"\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"
"""One entry: every right for everyone."""

_CREATE, _DELETE, _GET_DATA, _SET_DATA, _CHECK = 1, 2, 4, 5, 13
_EPHEMERAL, _SEQUENTIAL = 1, 2

ROLLED_BACK = 0
"""Error of the operations before the one that failed its multi."""
RUNTIME_INCONSISTENCY = -2
"""Error of the operations after it."""

_ERRORS: dict[int, type[ZooKeeperError]] = {
    -101: NoNode,
    -103: BadVersion,
    -108: NoChildrenForEphemerals,
    -110: NodeExists,
    -111: NotEmpty,
    -112: SessionExpired,
}


def error_of(code: int, path: str = "") -> ZooKeeperError:
    """Return the error for a code of ``KeeperException``."""
    kind = _ERRORS.get(code)
    return RequestFailed(f"{path}: ZooKeeper's error {code}") if kind is None else kind(path)


class MultiRequest(NamedTuple):
    """A multi (opcode 14)."""

    operations: Sequence[Operation]
    type: int = 14

    def serialize(self) -> bytes:
        """Return the request's body."""
        parts: list[bytes] = []
        for operation in self.operations:
            opcode, body = _write_operation(operation)
            parts += [_HEADER.pack(opcode, False, -1), body]
        parts.append(_END)
        return b"".join(parts)

    def deserialize(self, data: bytes, offset: int) -> list[OperationResult] | list[MultiFailed]:
        """Return the results, or the failure alone: nothing is raised on kazoo's thread."""
        results: list[OperationResult] = []
        failure: MultiFailed | None = None
        while True:
            opcode, is_done, _ = _HEADER.unpack_from(data, offset)
            offset += _HEADER.size
            if is_done:
                return results if failure is None else [failure]
            result: OperationResult = None
            if opcode == _CREATE:
                raw, offset = _read_buffer(data, offset)
                result = raw.decode()
            elif opcode == _SET_DATA:
                result, offset = _read_stat(data, offset)
            elif opcode == -1:
                (code,) = _INT.unpack_from(data, offset)
                offset += _INT.size
                if failure is None and code not in (ROLLED_BACK, RUNTIME_INCONSISTENCY):
                    failure = MultiFailed(
                        len(results), error_of(code, self.operations[len(results)].path)
                    )
            results.append(result)


class MultiReadRequest(NamedTuple):
    """A MultiRead (opcode 22) of data; ZooKeeper has it since 3.6."""

    paths: Sequence[str]
    type: int = 22

    def serialize(self) -> bytes:
        """Return the request's body."""
        header = _HEADER.pack(_GET_DATA, False, -1)
        parts = [header + _text(path) + b"\0" for path in self.paths]
        parts.append(_END)
        return b"".join(parts)

    def deserialize(
        self, data: bytes, offset: int
    ) -> list[tuple[bytes, Stat] | None] | ZooKeeperError:
        """Return data and stat of each path, None where there is no znode."""
        found: list[tuple[bytes, Stat] | None] = []
        while True:
            opcode, is_done, _ = _HEADER.unpack_from(data, offset)
            offset += _HEADER.size
            if is_done:
                return found
            if opcode == _GET_DATA:
                content, offset = _read_buffer(data, offset)
                stat, offset = _read_stat(data, offset)
                found.append((content, stat))
                continue
            (code,) = _INT.unpack_from(data, offset)
            offset += _INT.size
            if code != -101:
                return error_of(code, self.paths[len(found)])
            found.append(None)


class _Read(NamedTuple):
    """A request that reads one znode, with or without a watch; each kind has its own answer."""

    path: str
    is_watched: bool = False

    def serialize(self) -> bytes:
        """Return the request's body."""
        return _text(self.path) + _flag(self.is_watched)


class GetRequest(_Read):
    """A getData (opcode 4)."""

    type = _GET_DATA

    def deserialize(self, data: bytes, offset: int) -> tuple[bytes, Stat]:
        content, offset = _read_buffer(data, offset)
        return content, _read_stat(data, offset)[0]


class ExistsRequest(_Read):
    """An exists (opcode 3). kazoo answers None for a missing znode."""

    type = 3

    def deserialize(self, data: bytes, offset: int) -> Stat:
        return _read_stat(data, offset)[0]


class ChildrenRequest(_Read):
    """A getChildren (opcode 8)."""

    type = 8

    def deserialize(self, data: bytes, offset: int) -> list[str]:
        """Return the names of the children."""
        (count,) = _INT.unpack_from(data, offset)
        offset += _INT.size
        names = []
        for _ in range(count):
            name, offset = _read_buffer(data, offset)
            names.append(name.decode())
        return names


class SetWatchesRequest(NamedTuple):
    """A setWatches (opcode 101) of data; what was written after ``last_zxid`` fires at once.

    Clients send it to have their watches again after they have reconnected.
    """

    last_zxid: int
    paths: Sequence[str]
    type: int = 101

    def serialize(self) -> bytes:
        """Return the request's body: nothing is watched for its making, or for its children."""
        parts = [_LONG.pack(self.last_zxid), _INT.pack(len(self.paths))]
        parts += map(_text, self.paths)
        parts += [_INT.pack(0), _INT.pack(0)]
        return b"".join(parts)

    def deserialize(self, _data: bytes, _offset: int) -> None:
        """Return nothing: the reply has no body."""


class WriteRequest(NamedTuple):
    """A create, setData or delete on its own."""

    operation: Operation
    type: int

    @classmethod
    def of(cls, operation: Create | SetData | Delete) -> "WriteRequest":
        return cls(operation, _write_operation(operation)[0])

    def serialize(self) -> bytes:
        """Return the request's body."""
        return _write_operation(self.operation)[1]

    def deserialize(self, data: bytes, offset: int) -> OperationResult:
        """Return the path made, the new stat, or nothing."""
        if self.type == _CREATE:
            return _read_buffer(data, offset)[0].decode()
        return _read_stat(data, offset)[0] if self.type == _SET_DATA else None


def _write_operation(operation: Operation) -> tuple[int, bytes]:
    path = _text(operation.path)
    match operation:
        case SetData(data=data, version=version):
            return _SET_DATA, path + _buffer(data) + _INT.pack(version)
        case Create(data=data, ephemeral=ephemeral, sequential=sequential):
            flags = (_EPHEMERAL if ephemeral else 0) | (_SEQUENTIAL if sequential else 0)
            return _CREATE, path + _buffer(data) + _OPEN_ACL + _INT.pack(flags)
        case Delete(version=version):
            return _DELETE, path + _INT.pack(version)
        case Check(version=version):
            return _CHECK, path + _INT.pack(version)


def _flag(is_set: bool) -> bytes:
    return b"\1" if is_set else b"\0"


def _text(text: str) -> bytes:
    raw = text.encode()
    return _INT.pack(len(raw)) + raw


def _buffer(data: bytes) -> bytes:
    # Kafka writes null, not zero bytes, into znodes without data.
    return _INT.pack(len(data)) + data if data else b"\xff\xff\xff\xff"


def _read_buffer(data: bytes, offset: int) -> tuple[bytes, int]:
    (size,) = _INT.unpack_from(data, offset)
    offset += _INT.size
    if size < 0:
        return b"", offset
    return bytes(data[offset : offset + size]), offset + size


def _read_stat(data: bytes, offset: int) -> tuple[Stat, int]:
    (
        czxid,
        mzxid,
        ctime_ms,
        mtime_ms,
        version,
        cversion,
        _aversion,
        owner,
        _length,
        _children,
        _pzxid,
    ) = _STAT.unpack_from(data, offset)
    stat = Stat(czxid, mzxid, ctime_ms, mtime_ms, version, cversion, owner)
    return stat, offset + _STAT.size
