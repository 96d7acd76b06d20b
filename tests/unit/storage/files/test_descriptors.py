import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ballast.storage.errors import DiskError
from ballast.storage.files.descriptors import RealFile, RealFlush


@pytest.fixture
def file(tmp_path: Path) -> Iterator[RealFile]:
    opened = RealFile("/x", os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT))
    yield opened
    opened.close()


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_flush_outlives_its_file_and_gives_its_descriptor_back(file: RealFile) -> None:
    file.pwrite(b"abc", 0)
    before = open_descriptors()
    flush = file.begin_flush()
    assert open_descriptors() == before + 1
    file.close()
    flush()
    assert open_descriptors() == before - 1


def test_a_flush_that_is_given_up_gives_its_descriptor_back(file: RealFile) -> None:
    before = open_descriptors()
    flush = file.begin_flush()
    flush.close()
    flush.close()
    assert open_descriptors() == before


def test_a_flush_that_fails_says_so_and_gives_its_descriptor_back() -> None:
    # fdatasync of a pipe is EINVAL: as from a disk that is gone, an error of the operating system.
    reader, writer = os.pipe()
    before = open_descriptors()
    with pytest.raises(DiskError):
        RealFlush("/x", os.dup(writer))()
    assert open_descriptors() == before
    os.close(reader)
    os.close(writer)
