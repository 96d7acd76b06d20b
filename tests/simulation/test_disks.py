"""Log directories that refuse, and whose bytes stay."""

import errno
import random

import pytest

from ballast.model.ids import TopicPartition
from ballast.protocol.records import build_batch
from ballast.storage.errors import DiskError
from tests.simulation.disk_logs import DiskLogs
from tests.simulation.disks import LOG_DIRS, Disks

ONE, OTHER = LOG_DIRS
T0 = TopicPartition("t", 0)


@pytest.fixture
def disks() -> Disks:
    disks = Disks([1, 2], lambda: random.Random(1), lambda *_: None)
    for path in LOG_DIRS:
        disks.of[1].make_directory(path)
    return disks


def refusal(disks: Disks, operation: str, directory: str = ONE) -> int | None:
    try:
        if operation == "read":
            disks.of[1].names(directory)
        elif operation == "rename":
            disks.of[1].rename(f"{directory}/a", f"{directory}/b")
        else:
            disks.of[1].write_whole(f"{directory}/a", b"abc")
    except DiskError as error:
        return error.errno
    return None


@pytest.mark.parametrize(
    ("code", "write", "rename", "read"),
    [
        (errno.EIO, errno.EIO, errno.EIO, errno.EIO),
        (errno.EROFS, errno.EROFS, errno.EROFS, None),
        (errno.ENOSPC, errno.ENOSPC, None, None),
    ],
)
def test_a_directory_refuses_until_it_is_mended(
    disks: Disks, code: int, write: int, rename: int | None, read: int | None
) -> None:
    assert refusal(disks, "write") is None
    disks.break_directory(1, ONE, code)
    assert refusal(disks, "write") == write
    assert refusal(disks, "read") == read
    assert refusal(disks, "rename") == rename
    assert refusal(disks, "write", OTHER) is None
    disks.mend_all()
    assert refusal(disks, "write") is None


def test_a_full_directory_may_take_a_part_of_one_write(disks: Disks) -> None:
    file = disks.of[1].open(f"{ONE}/a", create=True)
    disks.break_directory(1, ONE, errno.ENOSPC, torn_bytes=2)
    for _ in range(2):
        with pytest.raises(DiskError):
            file.pwrite(b"abc", 0)

    assert disks.of[1].content(f"{ONE}/a") == b"ab"


def test_renames_are_told_before_they_are_made() -> None:
    told: list[tuple[int, str]] = []
    disks = Disks([1], lambda: random.Random(1), lambda *renamed: told.append(renamed))
    disks.of[1].make_directory(ONE)
    disks.of[1].write_whole(f"{ONE}/a", b"")
    disks.of[1].rename(f"{ONE}/a", f"{ONE}/b")

    assert told == [(1, f"{ONE}/a")]


def write_log(disks: Disks, directory: str, values: str, claim: int | None = None) -> None:
    disk, folder = disks.of[1], f"{directory}/{T0}"
    disk.make_directory(folder)
    batches = [
        build_batch([(None, value.encode(), 0)], base_offset=offset)
        for offset, value in enumerate(values)
    ]
    disk.write_whole(f"{folder}/{0:020}.log", b"".join(batches))
    if claim is not None:
        disk.write_whole(f"{folder}/moved-from", b"%d elsewhere" % claim)


@pytest.mark.parametrize(("in_use", "expected"), [(None, "abc"), (ONE, "ab"), (OTHER, "abc")])
def test_of_two_logs_the_one_in_use_is_read_or_the_one_that_would_be(
    disks: Disks, in_use: str | None, expected: str
) -> None:
    logs = DiskLogs(disks.of, LOG_DIRS, lambda *_: in_use)
    assert not logs.has_replica(1, T0)
    write_log(disks, ONE, "ab", claim=1)
    write_log(disks, OTHER, "abc", claim=2)

    assert [record.value for record in logs.read(1, T0)] == [c.encode() for c in expected]
    assert logs.read_sparse(1, T0).end == len(expected)


def test_a_log_is_read_although_its_directory_is_gone(disks: Disks) -> None:
    logs = DiskLogs(disks.of, LOG_DIRS, lambda *_: None)
    write_log(disks, ONE, "ab")
    disks.break_directory(1, ONE, errno.EIO)

    assert len(logs.read(1, T0)) == 2


def test_a_torn_tail_is_nobodys_until_it_is_whole(disks: Disks) -> None:
    logs = DiskLogs(disks.of, LOG_DIRS, lambda *_: None)
    write_log(disks, ONE, "ab")
    path = f"{ONE}/{T0}/{0:020}.log"
    whole = disks.of[1].content(path)
    disks.of[1].write_whole(path, whole[:-20])
    assert len(logs.read(1, T0)) == 1
    disks.of[1].write_whole(path, whole)

    assert len(logs.read(1, T0)) == 2
