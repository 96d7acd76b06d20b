"""Requests and replies as bytes, in the formats of zookeeper.jute."""

import struct

from ballast.zk.client import Check, Create, Delete, SetData, Stat
from ballast.zk.errors import BadVersion, MultiFailed, NoNode, RequestFailed
from ballast.zk.kazoo_adapter.requests import (
    ChildrenRequest,
    ExistsRequest,
    GetRequest,
    MultiReadRequest,
    MultiRequest,
    SetWatchesRequest,
    WriteRequest,
    error_of,
)

STAT = Stat(1, 2, 3, 4, 5, 6, 8)
STAT_BYTES = struct.pack(">qqqqiiiqiiq", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
END = struct.pack(">i?i", -1, True, -1)
ACL = b"\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"


def header(opcode: int) -> bytes:
    return struct.pack(">i?i", opcode, False, -1)


def failed(code: int) -> bytes:
    return struct.pack(">i?ii", -1, False, code, code)


def test_multi() -> None:
    request = MultiRequest(
        [Create("/a", b"x", True, True), SetData("/b", b"", 3), Delete("/c"), Check("/d", 4)]
    )
    assert request.serialize() == b"".join(
        (
            header(1),
            b"\0\0\0\2/a\0\0\0\1x" + ACL + b"\0\0\0\3",
            header(5),
            b"\0\0\0\2/b\xff\xff\xff\xff\0\0\0\3",
            header(2),
            b"\0\0\0\2/c\xff\xff\xff\xff",
            header(13),
            b"\0\0\0\2/d\0\0\0\4",
            END,
        )
    )
    reply = (
        b"??" + header(1) + b"\0\0\0\2/a" + header(5) + STAT_BYTES + header(2) + header(13) + END
    )
    assert request.deserialize(reply, 2) == ["/a", STAT, None, None]


def test_a_failed_multi_names_the_first_that_failed() -> None:
    request = MultiRequest([Check("/a"), SetData("/b", b""), Delete("/c")])
    (failure,) = request.deserialize(failed(0) + failed(-103) + failed(-2) + END, 0)
    assert isinstance(failure, MultiFailed)
    assert failure.index == 1
    assert isinstance(failure.error, BadVersion)
    assert str(failure.error) == "/b"


def test_multi_read() -> None:
    request = MultiReadRequest(["/a", "/b"])
    assert request.type == 22
    assert request.serialize() == (header(4) + b"\0\0\0\2/a\0" + header(4) + b"\0\0\0\2/b\0" + END)
    found = header(4) + b"\0\0\0\1x" + STAT_BYTES
    assert request.deserialize(found + failed(-101) + END, 0) == [(b"x", STAT), None]
    assert isinstance(request.deserialize(found + failed(-102) + END, 0), RequestFailed)


def test_single_requests() -> None:
    assert GetRequest("/a").serialize() == b"\0\0\0\2/a\0"
    assert ExistsRequest("/a", is_watched=True).serialize() == b"\0\0\0\2/a\1"
    assert GetRequest("/a").deserialize(b"\xff\xff\xff\xff" + STAT_BYTES, 0) == (b"", STAT)
    assert ExistsRequest("/a").deserialize(STAT_BYTES, 0) == STAT
    create, delete = WriteRequest.of(Create("/a")), WriteRequest.of(Delete("/a", 1))
    assert (create.type, delete.type) == (1, 2)
    assert create.serialize() == b"\0\0\0\2/a\xff\xff\xff\xff" + ACL + b"\0\0\0\0"
    assert create.deserialize(b"\0\0\0\2/a", 0) == "/a"
    assert delete.deserialize(b"", 0) is None
    assert WriteRequest.of(SetData("/a", b"x")).deserialize(STAT_BYTES, 0) == STAT


def test_children() -> None:
    assert ChildrenRequest("/a", is_watched=True).serialize() == b"\0\0\0\2/a\1"
    names = b"??\0\0\0\2\0\0\0\1b\0\0\0\2c\xc3"[:-1] + b"d"
    assert ChildrenRequest("/a").deserialize(names, 2) == ["b", "cd"]
    assert ChildrenRequest("/a").deserialize(b"\0\0\0\0", 0) == []


def test_set_watches() -> None:
    request = SetWatchesRequest(258, ["/a", "/b"])
    assert request.type == 101
    assert request.serialize() == (
        b"\0\0\0\0\0\0\1\2" + b"\0\0\0\2" + b"\0\0\0\2/a" + b"\0\0\0\2/b" + bytes(8)
    )


def test_errors() -> None:
    assert isinstance(error_of(-101, "/a"), NoNode)
    assert str(error_of(-102, "/a")) == "/a: ZooKeeper's error -102"
