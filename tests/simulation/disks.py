"""The disks of all brokers, and what is wrong with them.

A broker has one disk with one or two log directories. A directory may refuse what is done in it:

- ``EIO`` everything, reads too: the device is gone
- ``EROFS`` whatever changes anything: the kernel has remounted it
- ``ENOSPC`` what needs room; the first write may still leave a part of itself

A flush that is waited for in the background takes some milliseconds, now and then a second.

The bytes stay as they are, so that the directory is whole again once the fault is over.

A disk may be used by a second process of its broker. Rule:

- P19 a process reads and changes nothing in a log directory whose lock it does not hold
"""

import errno
import random
from collections.abc import Callable, Sequence
from functools import partial

from ballast.storage.files.layout import LOCK
from tests.fakes.disk import FakeDisk
from tests.simulation.hosts import HOST
from tests.simulation.violations import InvariantViolation

LOG_DIRS = ("/disk", "/disk-2")

SLOW_FLUSHES = 0.05
"""The part of the flushes that wait for something else that the disk is writing."""

_READS = frozenset({"read", "stat", "list", "open"})
_NEEDS_ROOM = frozenset({"write", "mkdir"})
_PROCESSES = ("broker-", "second-")
"""Hosts whose processes need the locks; an operator who puts files back does not."""


def _pause_s(chance: random.Random) -> float:
    return chance.uniform(0, 1.0 if chance.random() < SLOW_FLUSHES else 0.01)


class Disks:
    """One disk per broker, by its id."""

    def __init__(
        self,
        brokers: Sequence[int],
        new_random: Callable[[], random.Random],
        renamed: Callable[[int, str], None],
    ) -> None:
        """Make them; ``renamed`` is told of each path that is about to be renamed, and on whom."""
        self.of = {broker: FakeDisk(new_random()) for broker in brokers}
        self._renamed = renamed
        self._refusals: dict[tuple[int, str], int] = {}
        """Broker and log directory -> errno."""
        self.on_violation: Callable[[InvariantViolation], None] = _raise
        """Told of a broken rule, which the process itself may take for an error of its own."""
        self._shared: set[int] = set()
        for broker, disk in self.of.items():
            disk.fail = partial(self._before, broker, disk)
            disk.pause_s = partial(_pause_s, new_random())

    def another_process(self, broker: int) -> FakeDisk:
        """Return a broker's disk as a second process uses it, until `end_process`."""
        disk = self.of[broker].another_process()
        disk.fail = partial(self._before, broker, disk)
        self._shared.add(broker)
        return disk

    def end_process(self, broker: int, disk: FakeDisk) -> None:
        """Kill the process that `another_process` was for."""
        disk.crash(keep_page_cache=True)
        self._shared.discard(broker)

    def is_shared(self, broker: int) -> bool:
        """Whether there is a second process on a broker's disk."""
        return broker in self._shared

    def break_directory(
        self, broker: int, directory: str, code: int, *, torn_bytes: int | None = None
    ) -> None:
        """Have a directory refuse with ``code``; ``torn_bytes`` of the next write get through."""
        self._refusals[broker, directory] = code
        self.of[broker].torn_write_bytes = torn_bytes

    def mend(self, broker: int, directory: str) -> None:
        """Let a directory work again."""
        self._refusals.pop((broker, directory), None)
        self.of[broker].torn_write_bytes = None

    def mend_all(self) -> None:
        """Let every directory work again, and every byte be read right."""
        for disk in self.of.values():
            disk.forget_rot()
        for broker in self.of:
            self.mend_all_of(broker)

    def mend_all_of(self, broker: int) -> None:
        """Let every directory of a broker work again."""
        for directory in LOG_DIRS:
            self.mend(broker, directory)

    def is_broken(self, broker: int, directory: str) -> bool:
        """Whether a directory refuses anything."""
        return (broker, directory) in self._refusals

    def _before(self, broker: int, disk: FakeDisk, operation: str, path: str) -> int | None:
        self._check_lock(disk, operation, path)
        code = self._refusal(broker, operation, path) if self._refusals else None
        if code is None and operation == "rename":
            self._renamed(broker, path)
        return code

    def _check_lock(self, disk: FakeDisk, operation: str, path: str) -> None:
        root = "/" + path.split("/", 2)[1]
        if operation == "lock" or (operation, path) == ("mkdir", root):
            return
        host = HOST.get().name
        if host.startswith(_PROCESSES) and not disk.holds_lock(f"{root}/{LOCK}"):
            violation = InvariantViolation("P19", f"{host}: {operation} {path} without the lock")
            self.on_violation(violation)
            raise violation

    def _refusal(self, broker: int, operation: str, path: str) -> int | None:
        code = self._refusals.get((broker, "/" + path.split("/", 2)[1]))
        if operation == "mkdir" and code != errno.EIO and self.of[broker].holds(path):
            return None
        if code == errno.EROFS:
            return None if operation in _READS else code
        if code == errno.ENOSPC:
            is_torn = operation == "write" and self.of[broker].torn_write_bytes is not None
            return code if operation in _NEEDS_ROOM and not is_torn else None
        return code


def _raise(violation: InvariantViolation) -> None:
    raise violation
