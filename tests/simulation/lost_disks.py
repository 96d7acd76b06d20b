"""Disks that are replaced by empty ones, and what was on them (P7 of the faults, KAFKA-14139).

What a broker had counts as its log for as long as it has not begun another one: nobody may go by
the empty disk before that. From then on the disk says it all, so that whoever leads, or is in
sync, with an emptied log breaks P2, P3, P4 or P7. It breaks P18 before:

- P18 a replica whose log went with its disk takes no role while the ISR names it

A partition whose last members in the ISR have lost their disks has no leader until somebody finds a
disk again: its folder is put back, as an operator would do it, and nothing is lost. What is being
deleted needs no disk.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.storage.files.layout import MOVED_FROM
from tests.fakes.disk import FakeDisk
from tests.simulation.violations import require


class LostFile(NamedTuple):
    """A file of a replica."""

    data: bytes
    modified_ms: int
    """Kept, because compaction goes by it."""


Folder = Mapping[str, LostFile]
"""The files of one replica by their names."""

IsDeleted = Callable[[TopicPartition], bool]
"""Whether brokers are being told to delete a partition."""

DirectoryOf = Callable[[int, TopicPartition], str | None]
"""Returns the log directory that holds a broker's replica, None if there is none."""


class LostDisks:
    """The replicas that went with a disk and have not been begun anew."""

    def __init__(
        self,
        disks: Mapping[int, FakeDisk],
        states: Mapping[TopicPartition, LeaderAndIsr],
        is_deleted: IsDeleted,
    ) -> None:
        self._disks = disks
        self._states = states
        self._is_deleted = is_deleted
        self._folders: dict[tuple[int, TopicPartition], Folder] = {}

    def replace(self, broker: int, directory_of: DirectoryOf) -> None:
        """Put an empty disk in the place of a broker's; its process must be down."""
        disk = self._disks[broker]
        for partition in self._states:
            directory = directory_of(broker, partition)
            if directory is not None:
                folder = f"{directory}/{partition}"
                self._folders[broker, partition] = {
                    name: LostFile(disk.content(path), disk.modified_ms(path))
                    for name in disk.names_now(folder)
                    if name != MOVED_FROM and (path := f"{folder}/{name}")
                }
        disk.be_replaced()

    def content(self, broker: int, partition: TopicPartition, suffixes: tuple[str, ...]) -> bytes:
        """Return what was in a replica's files, in the order of their names."""
        folder = self._folders.get((broker, partition), {})
        return b"".join(folder[name].data for name in sorted(folder) if name.endswith(suffixes))

    def knows(self, broker: int, partition: TopicPartition) -> bool:
        """Whether a broker had a log of the partition, and has not begun another one."""
        return (broker, partition) in self._folders

    def hosted(self, broker: int, partition: TopicPartition) -> None:
        """Check a replica that has a role."""
        if (broker, partition) in self._folders:
            state = self._states.get(partition)
            in_sync = state is not None and broker in state.isr
            require("P18", not in_sync, f"{broker} takes a role for {partition}, emptied: {state}")
            del self._folders[broker, partition]

    def deleted(self, partition: TopicPartition) -> None:
        """Forget a partition that is gone."""
        for lost in [lost for lost in self._folders if lost[1] == partition]:
            del self._folders[lost]

    def stuck(self) -> list[int]:
        """Return the brokers without whose disks some partition stays without a leader."""
        return sorted(
            {
                broker
                for broker, partition in self._folders
                if (state := self._states.get(partition)) is not None
                and not self._is_deleted(partition)
                and broker in state.isr
                and all((member, partition) in self._folders for member in state.isr)
            }
        )

    def give_back(self, broker: int, directory: str) -> None:
        """Put back what a broker has not begun anew; its process must be down."""
        disk = self._disks[broker]
        for lost in [lost for lost in self._folders if lost[0] == broker]:
            if self._is_deleted(lost[1]):
                continue
            path = f"{directory}/{lost[1]}"
            disk.make_directory(directory)
            disk.make_directory(path)
            for name, file in self._folders.pop(lost).items():
                disk.write_whole(f"{path}/{name}", file.data)
                disk.set_modified_ms(f"{path}/{name}", file.modified_ms)
