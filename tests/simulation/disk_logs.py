"""Replicas' logs read from the disks themselves, whether their brokers live or not.

What may be committed makes sense as batches, one after another (P15); a torn tail is nobody's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ballast.model.ids import TopicPartition
from ballast.protocol.errors import RecordsError
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import iter_batches
from ballast.storage.files.layout import LOG_SUFFIX, MOVED_FROM, SWAP_SUFFIX
from tests.fakes.disk import FakeDisk
from tests.simulation.compaction_rules import Kept, SparseLog
from tests.simulation.replication_rules import Stored
from tests.simulation.violations import InvariantViolation, require

Lost = Callable[[int, TopicPartition, tuple[str, ...]], bytes]
"""Returns what was in the files of a replica whose disk is gone, by the ends of their names."""

InUse = Callable[[int, TopicPartition], str | None]
"""Returns the log directory from which a broker's process serves a replica, None if it does not."""


class DiskLogs:
    """Reads logs, and reads again only what has changed since."""

    def __init__(
        self,
        disks: Mapping[int, FakeDisk],
        directories: Sequence[str],
        in_use: InUse,
        lost: Lost = lambda *_: b"",
    ) -> None:
        self._disks = disks
        self._directories = directories
        self._in_use = in_use
        self._lost = lost
        self._known: dict[tuple[int, TopicPartition], tuple[bytes, list[Stored]]] = {}
        self._sparse: dict[tuple[int, TopicPartition], tuple[bytes, SparseLog]] = {}

    def read(self, broker: int, partition: TopicPartition) -> Sequence[Stored]:
        """Return a replica's records from offset 0 on; none if there is no replica."""
        data = self._content(broker, partition, (LOG_SUFFIX,))
        known, records = self._known.get((broker, partition), (b"", []))
        if data == known:
            return records
        if not data.startswith(known):
            known, records = b"", []
        with _told(broker, partition):
            end, found = _parse(data, len(known), len(records))
        records = [*records, *found]
        # A torn tail may be completed: it is read anew.
        self._known[broker, partition] = (data[:end], records)
        return records

    def read_sparse(self, broker: int, partition: TopicPartition) -> SparseLog:
        """Return a replica's records by offset, as far as compaction has left them.

        A disk that fails in the midst of a swap has the new segment, and some of the old ones.
        """
        data = self._content(broker, partition, (LOG_SUFFIX, LOG_SUFFIX + SWAP_SUFFIX))
        known = self._sparse.get((broker, partition))
        if known is None or known[0] != data:
            with _told(broker, partition):
                known = self._sparse[broker, partition] = (data, _parse_sparse(data))
        return known[1]

    def hosted(self, broker: int) -> list[str]:
        """Return the names of the folders in a broker's log directories."""
        disk = self._disks[broker]
        return [name for path in self._directories for name in disk.names_now(path)]

    def has_replica(self, broker: int, partition: TopicPartition) -> bool:
        """Whether there is a folder for the partition."""
        return bool(self._holding(broker, partition))

    def directory_of(self, broker: int, partition: TopicPartition) -> str | None:
        """Return the log directory that holds a replica, None if there is none.

        Of two it is the one in use, else the one that would be used after a start.
        """
        holding = self._holding(broker, partition)
        if len(holding) < 2:
            return holding[0] if holding else None
        in_use = self._in_use(broker, partition)
        if in_use is not None:
            return in_use
        return max(holding, key=lambda path: self._claim(broker, f"{path}/{partition}"))

    def _holding(self, broker: int, partition: TopicPartition) -> list[str]:
        disk = self._disks[broker]
        return [path for path in self._directories if disk.holds(f"{path}/{partition}")]

    def _claim(self, broker: int, folder: str) -> int:
        """Return how often a log has claimed to replace one of another directory."""
        path = f"{folder}/{MOVED_FROM}"
        disk = self._disks[broker]
        return int(disk.content(path).partition(b" ")[0]) if disk.holds(path) else 0

    def _content(self, broker: int, partition: TopicPartition, suffixes: tuple[str, ...]) -> bytes:
        directory = self.directory_of(broker, partition)
        if directory is None:
            return self._lost(broker, partition, suffixes)
        disk = self._disks[broker]
        folder = f"{directory}/{partition}"
        segments = [name for name in disk.names_now(folder) if name.endswith(suffixes)]
        return b"".join(disk.content(f"{folder}/{name}") for name in segments)


@contextmanager
def _told(broker: int, partition: TopicPartition) -> Iterator[None]:
    """Say whose log it is that makes no sense."""
    try:
        yield
    except RecordsError as error:
        raise InvariantViolation("P15", f"{partition} on {broker}: {error}") from error


def _parse(data: bytes, position: int, offset: int) -> tuple[int, list[Stored]]:
    """Return where the last whole batch ends, and the records from ``position`` on."""
    records: list[Stored] = []
    for place, header in iter_batches(data, position):
        require(
            "P6", header.base_offset == offset + len(records), f"gap at offset {header.base_offset}"
        )
        records.extend(
            Stored(header.partition_leader_epoch, record.value or b"")
            for record in read_records(data, place)
        )
        position = place + header.size
    return position, records


def _parse_sparse(data: bytes) -> SparseLog:
    records: dict[int, Kept] = {}
    end = 0
    for place, header in iter_batches(data):
        end = max(end, header.next_offset)
        for record in read_records(data, place):
            records[record.offset] = Kept(header.partition_leader_epoch, record.key, record.value)
    return SparseLog(end, records)
