import asyncio
import errno

import pytest

from ballast.broker.maintenance.timed_flushes import TimedFlushes
from ballast.storage.errors import DiskError
from tests.unit.storage.samples import ROOT, new_disk


def test_each_flush_is_timed_also_one_that_fails() -> None:
    disk = new_disk()
    disk.make_directory(ROOT)
    now = [0.0]

    def pause() -> float:
        now[0] += 0.25
        return 0.0

    disk.pause_s = pause
    seen: list[float] = []
    flushes = TimedFlushes(disk, lambda: now[0], seen.append)
    asyncio.run(flushes(disk.begin_flush_directory(ROOT)))
    flush = disk.begin_flush_directory(ROOT)
    disk.fail = lambda *_: errno.EIO
    with pytest.raises(DiskError):
        asyncio.run(flushes(flush))
    assert seen == [0.25, 0.25]
