import errno

import pytest

from ballast.storage.errors import LogFailed
from tests.unit.storage.samples import append, batch, new_disk, reopened


def test_a_log_whose_write_failed_takes_no_more_until_it_is_opened_again() -> None:
    disk = new_disk()
    log = reopened(disk)
    append(log, batch())
    disk.fail = lambda operation, _: errno.EIO if operation == "write" else None
    with pytest.raises(LogFailed):
        append(log, batch())
    disk.fail = None
    with pytest.raises(LogFailed, match="EIO"):
        append(log, batch())
    assert log.failure is not None
    again = reopened(disk)
    append(again, batch())
    assert again.failure is None


def test_a_closed_log_takes_no_more() -> None:
    log = reopened(new_disk())
    log.close(clean=False)
    assert log.is_closed
    with pytest.raises(LogFailed, match="closed"):
        append(log, batch())
