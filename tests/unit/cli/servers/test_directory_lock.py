"""The lock of a data directory: one holder, a bounded wait, and it outlives ``exec``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ballast.cli.servers.directory_lock import LOCK, POLL_S, DirectoryInUse, hold


def no_sleep(_seconds: float) -> None:
    raise AssertionError("nothing is waited for")


def test_a_second_process_waits_for_a_bounded_time(tmp_path: Path) -> None:
    held = hold(tmp_path, 0, no_sleep)
    pauses: list[float] = []
    with pytest.raises(DirectoryInUse, match=f"{tmp_path} is in use by another process"):
        hold(tmp_path, 4 * POLL_S, pauses.append)
    assert pauses == [POLL_S] * 4
    os.close(held)


def test_a_second_process_goes_on_once_the_first_has_ended(tmp_path: Path) -> None:
    held = hold(tmp_path, 0, no_sleep)
    os.close(hold(tmp_path, 60, lambda _: os.close(held)))


def test_the_program_that_the_process_becomes_keeps_the_lock(tmp_path: Path) -> None:
    held = hold(tmp_path, 0, no_sleep)
    waiting = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, pass_fds=[held]) as program:
        os.close(held)
        with pytest.raises(DirectoryInUse):
            hold(tmp_path, 0, no_sleep)
        program.communicate(b"\n")
    os.close(hold(tmp_path, 0, no_sleep))


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        hold(tmp_path, 0, no_sleep)
    assert not (tmp_path / "elsewhere").exists()
