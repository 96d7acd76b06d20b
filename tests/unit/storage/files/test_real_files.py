"""The door to the disk: the same behaviour of the real one and of the fake; nothing outside."""

import mmap
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import DiskError, UnsafePath
from ballast.storage.files.descriptors import MAPPED_FROM_BYTES, WINDOW_BYTES, WRITE_BYTES
from ballast.storage.files.ports import Files
from ballast.storage.files.real_files import RealFiles
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG, PARTITION, append, batch, contents


@pytest.fixture(params=["real", "fake"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Files, str]]:
    root = str(tmp_path / "logs")
    if request.param == "fake":
        disk = FakeDisk(Random(0))
        disk.make_directory(root)
        yield disk, root
        return
    files = RealFiles([root])
    files.make_directory(root)
    yield files, root
    files.close()


def test_reading_and_writing(door: tuple[Files, str]) -> None:
    files, root = door
    files.make_directory(f"{root}/t-0")
    files.make_directory(f"{root}/t-0")
    file = files.open(f"{root}/t-0/a", create=True)
    file.pwrite(memoryview(b"hello world"), 0)
    file.pwrite(b"W", 6)
    assert file.pread(5, 6) == b"World"
    assert file.pread(50, 6) == b"World"
    assert file.pread(5, 50) == b""
    file.truncate(3)
    file.pwrite(b"!", 5)
    file.flush()
    assert (file.size(), file.pread(9, 0)) == (6, b"hel\0\0!")
    file.close()
    file.close()
    with pytest.raises(DiskError):
        file.pread(1, 0)
    assert files.size(f"{root}/t-0/a") == 6
    assert files.exists(f"{root}/t-0/a")
    assert not files.exists(f"{root}/t-0/b")
    assert not files.exists(f"{root}/t-9/b")


@pytest.mark.parametrize("size", [5, MAPPED_FROM_BYTES, 3 * MAPPED_FROM_BYTES])
@pytest.mark.parametrize("position", [0, 1, 5000])
def test_a_view_shows_what_is_there(door: tuple[Files, str], size: int, position: int) -> None:
    files, root = door
    files.make_directory(f"{root}/t-0")
    content = Random(size).randbytes(position + size)
    file = files.open(f"{root}/t-0/a", create=True)
    file.pwrite(content, 0)
    view = file.view(size, position)
    assert view == content[position:]
    assert file.view(size + 1, position) == content[position:]
    file.close()
    files.remove(f"{root}/t-0/a")
    assert view == content[position:]


@pytest.mark.parametrize("size", [0, 1, WRITE_BYTES, WRITE_BYTES + 1, 3 * WRITE_BYTES - 5])
def test_all_of_a_large_write_is_there(door: tuple[Files, str], size: int) -> None:
    files, root = door
    content = Random(size).randbytes(size)
    file = files.open(f"{root}/a", create=True)
    file.pwrite(b"before", 0)
    file.pwrite(content, 3)
    assert file.pread(size + 10, 0) == (b"bef" + content + b"before"[3 + size :])
    file.close()


def mapped_bytes(path: Path) -> int:
    """Return how much of a file is mapped into this process."""
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(f" {path}"):
            first, _, end = line.split(maxsplit=1)[0].partition("-")
            total += int(end, 16) - int(first, 16)
    return total


def test_a_file_is_read_through_a_window_at_a_time(tmp_path: Path) -> None:
    files = RealFiles([str(tmp_path)])
    content = Random(1).randbytes(2 * WINDOW_BYTES + 5 * MAPPED_FROM_BYTES)
    file = files.open(f"{tmp_path}/a", create=True)
    file.pwrite(content, 0)
    step = 3 * MAPPED_FROM_BYTES + 7
    view: bytes | memoryview = b""
    for position in range(0, len(content), step):
        end = min(position + step, len(content))
        view = file.view(end - position, position)
        assert view == content[position:end]
        # The part sent last may lie in the window before this one.
        assert mapped_bytes(tmp_path / "a") <= 2 * (WINDOW_BYTES + mmap.PAGESIZE)
    del view
    assert mapped_bytes(tmp_path / "a") == 0
    far = file.view(MAPPED_FROM_BYTES, WINDOW_BYTES)
    back = file.view(MAPPED_FROM_BYTES, WINDOW_BYTES - MAPPED_FROM_BYTES)
    around = content[WINDOW_BYTES - MAPPED_FROM_BYTES : WINDOW_BYTES + MAPPED_FROM_BYTES]
    assert bytes(back) + bytes(far) == around
    del far
    file.close()
    del back
    assert mapped_bytes(tmp_path / "a") == 0
    files.close()


def test_what_is_written_after_a_cut_is_seen_through_a_window(tmp_path: Path) -> None:
    files = RealFiles([str(tmp_path)])
    file = files.open(f"{tmp_path}/a", create=True)
    file.pwrite(bytes(4 * MAPPED_FROM_BYTES), 0)
    assert not any(file.view(MAPPED_FROM_BYTES, 0))
    file.truncate(MAPPED_FROM_BYTES)
    again = Random(2).randbytes(MAPPED_FROM_BYTES)
    file.pwrite(again, MAPPED_FROM_BYTES)
    assert file.view(MAPPED_FROM_BYTES, MAPPED_FROM_BYTES) == again
    assert file.view(3 * MAPPED_FROM_BYTES, MAPPED_FROM_BYTES) == again
    files.close()


def test_what_was_cut_off_under_a_view_cannot_be_sent(tmp_path: Path) -> None:
    root = str(tmp_path)
    files = RealFiles([root])
    file = files.open(f"{root}/a", create=True)
    file.pwrite(bytes(4 * MAPPED_FROM_BYTES), 0)
    view = file.view(2 * MAPPED_FROM_BYTES, 2 * MAPPED_FROM_BYTES)
    file.truncate(MAPPED_FROM_BYTES)
    sender, receiver = socket.socketpair()
    with sender, receiver, pytest.raises(OSError, match="Bad address"):
        sender.send(view)
    files.close()


def test_names(door: tuple[Files, str]) -> None:
    files, root = door
    files.make_directory(f"{root}/t-0")
    files.write_whole(f"{root}/b", b"1")
    files.write_whole(f"{root}/b", b"22")
    files.write_whole(f"{root}/t-0/c", b"")
    assert files.names(root) == ["b", "t-0"]
    assert files.read_whole(f"{root}/b") == b"22"
    files.rename(f"{root}/t-0", f"{root}/t-1")
    assert files.names(f"{root}/t-1") == ["c"]
    files.rename(f"{root}/t-1/c", f"{root}/t-1/d")
    files.flush_directory(f"{root}/t-1")
    with pytest.raises(DiskError):
        files.remove_directory(f"{root}/t-1")
    files.remove(f"{root}/t-1/d")
    files.remove_directory(f"{root}/t-1")
    assert files.names(root) == ["b"]
    for missing in (
        lambda: files.open(f"{root}/x"),
        lambda: files.size(f"{root}/x"),
        lambda: files.read_whole(f"{root}/x"),
        lambda: files.remove(f"{root}/x"),
        lambda: files.names(f"{root}/x"),
        lambda: files.write_whole(f"{root}/x/y", b""),
    ):
        with pytest.raises(DiskError):
            missing()
    with pytest.raises(UnsafePath):
        files.rename(f"{root}/b", f"{root}/t-0/b")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "t-0/..", "t-0/../../x", "a/b/c", "a\0b", "a b", "é", "x" * 256, "/x"],
)
def test_paths_that_storage_would_not_make_are_refused(tmp_path: Path, name: str) -> None:
    root = str(tmp_path / "logs")
    files = RealFiles([root])
    (tmp_path / "x").write_bytes(b"secret")
    for path in (f"{root}/{name}", name, f"{tmp_path}/x"):
        with pytest.raises((UnsafePath, DiskError)):
            files.open(path, create=True)
        with pytest.raises((UnsafePath, DiskError)):
            files.write_whole(path, b"")
    assert os.listdir(tmp_path) in (["x"], ["logs", "x"], ["x", "logs"])  # noqa: PTH208
    files.close()


def test_links_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"secret")
    files = RealFiles([str(root)])
    files.make_directory(f"{root}/t-0")
    (root / "t-1").symlink_to(outside)
    (root / "t-0" / "f").symlink_to(outside / "f")
    for attempt in (
        lambda: files.open(f"{root}/t-1/f"),
        lambda: files.open(f"{root}/t-0/f"),
        lambda: files.open(f"{root}/t-0/f", create=True),
        lambda: files.read_whole(f"{root}/t-1/f"),
        lambda: files.write_whole(f"{root}/t-1/f", b""),
        lambda: files.names(f"{root}/t-1"),
        lambda: files.make_directory(f"{root}/t-1"),
        lambda: files.remove(f"{root}/t-1/f"),
    ):
        with pytest.raises(DiskError):
            attempt()
    assert not files.exists(f"{root}/t-1")
    assert not files.exists(f"{root}/t-0/f")
    assert (outside / "f").read_bytes() == b"secret"
    files.close()


def test_a_linked_partition_takes_its_log_directory_offline(tmp_path: Path) -> None:
    good, bad, outside = (tmp_path / name for name in ("good", "bad", "outside"))
    for directory in (good, bad, outside):
        directory.mkdir()
    (bad / "t-7").symlink_to(outside)
    files = RealFiles([str(good), str(bad)])
    log_dirs = new_log_dirs(files, good, bad)
    log_dirs.load_all("cluster")
    assert list(log_dirs.offline_directories) == [str(bad)]
    assert list(outside.iterdir()) == []
    files.close()


def test_a_root_that_is_no_directory_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"")
    files = RealFiles([str(tmp_path / "bad"), f"{tmp_path}/good/"])
    with pytest.raises(DiskError):
        files.make_directory(f"{tmp_path}/bad")
    files.make_directory(f"{tmp_path}/good")
    files.write_whole(f"{tmp_path}/good/f", b"")
    files.close()


class Audit:
    """Notes the names that are opened while it is on; audit hooks cannot be taken away."""

    opened: list[str] | None = None

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.opened is not None and event in ("open", "os.mkdir", "os.rename", "os.remove"):
            self.opened.append(str(arguments[0]))


def test_nothing_outside_the_log_directories_is_opened(tmp_path: Path) -> None:
    audit = Audit()
    sys.addaudithook(audit)
    root = tmp_path / "logs"
    files = RealFiles([str(root)])
    audit.opened = []
    try:
        log_dirs = new_log_dirs(files, root)
        log_dirs.load_all("cluster")
        log = log_dirs.get_or_create(PARTITION)
        append(log, *[batch() for _ in range(30)])
        log.truncate_to(7)
        log.flush()
        log_dirs.write_high_watermarks({PARTITION: 7})
        for topic in ("../../etc", "..", "a/b", "/etc/passwd", "a\0b"):
            with pytest.raises(UnsafePath):
                log_dirs.get_or_create(TopicPartition(topic, 0))
        log_dirs.shutdown()
        again = new_log_dirs(files, root)
        again.load_all("cluster")
        assert len(contents(again.logs[PARTITION])) == 7
        again.delete(PARTITION)
        again.remove_deleted()
        again.shutdown()
    finally:
        opened, audit.opened = audit.opened, None
    # Below the root every name is opened relative to a descriptor, hence bare.
    assert {name for name in opened if "/" in name} <= {str(root), str(tmp_path)}
    assert not {name for name in opened if name in (".", "..")}
    assert os.listdir(tmp_path) == ["logs"]  # noqa: PTH208
    files.close()


def new_log_dirs(files: Files, *roots: Path) -> LogDirs:
    return LogDirs(
        files,
        [str(root) for root in roots],
        broker_id=1,
        config_for=lambda _: CONFIG.with_overrides({"segment.bytes": "300"}),
        random=Random(0),
    )
