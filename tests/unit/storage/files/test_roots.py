"""Locks of log directories: the same of the operating system and of the fake disk."""

from pathlib import Path
from random import Random

import pytest

from ballast.storage.errors import DiskError
from ballast.storage.files.ports import Files
from ballast.storage.files.real_files import RealFiles
from tests.fakes.disk import FakeDisk


@pytest.fixture(params=["real", "fake"])
def processes(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Files, Files, str]:
    """Two processes on the same directory."""
    root = str(tmp_path / "logs")
    one: Files
    other: Files
    if request.param == "fake":
        one = disk = FakeDisk(Random(0))
        other = disk.another_process()
    else:
        one, other = RealFiles([root]), RealFiles([root])
    one.make_directory(root)
    return one, other, f"{root}/.lock"


def end(process: Files) -> None:
    if isinstance(process, RealFiles):
        process.close()
    else:
        assert isinstance(process, FakeDisk)
        process.crash(keep_page_cache=True)


def test_a_lock_has_one_holder(processes: tuple[Files, Files, str]) -> None:
    one, other, lock = processes
    assert one.lock(lock)
    assert one.names(lock.removesuffix("/.lock")) == [".lock"]
    assert not one.lock(lock)
    assert not other.lock(lock)
    other.unlock(lock)
    assert not other.lock(lock)
    one.unlock(lock)
    one.unlock(lock)
    assert other.lock(lock)
    assert not one.lock(lock)
    other.unlock(lock)


def test_a_lock_ends_with_its_process(processes: tuple[Files, Files, str]) -> None:
    one, other, lock = processes
    assert one.lock(lock)
    end(one)
    assert other.lock(lock)
    end(other)


def test_a_lock_needs_its_directory(processes: tuple[Files, Files, str]) -> None:
    one, other, lock = processes
    with pytest.raises(DiskError):
        one.lock(lock.replace("/.lock", "/t-0/.lock"))
    for process in (one, other):
        end(process)


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    files = RealFiles([str(tmp_path)])
    with pytest.raises(DiskError):
        files.lock(f"{tmp_path}/.lock")
    assert not (tmp_path / "elsewhere").exists()
    files.close()
