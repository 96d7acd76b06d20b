"""Replicas' logs read from the disks themselves, whether their brokers live or not."""

from collections.abc import Mapping, Sequence

from ballast.model.ids import TopicPartition
from ballast.protocol.record_reader import read_records
from ballast.protocol.records import iter_batches
from tests.fakes.disk import FakeDisk
from tests.simulation.replication_rules import Stored
from tests.simulation.violations import require

LOG_DIR = "/disk"


class DiskLogs:
    """Reads logs, and reads again only what has changed since."""

    def __init__(self, disks: Mapping[int, FakeDisk]) -> None:
        self._disks = disks
        self._known: dict[tuple[int, TopicPartition], tuple[bytes, list[Stored]]] = {}

    def read(self, broker: int, partition: TopicPartition) -> Sequence[Stored]:
        """Return a replica's records from offset 0 on; none if there is no replica."""
        data = self._content(broker, partition)
        known, records = self._known.get((broker, partition), (b"", []))
        if data == known:
            return records
        if not data.startswith(known):
            known, records = b"", []
        records = [*records, *_parse(data, len(known), len(records))]
        self._known[broker, partition] = (data, records)
        return records

    def hosted(self, broker: int) -> list[str]:
        """Return the names of the folders in a broker's log directory."""
        return self._disks[broker].names(LOG_DIR)

    def has_replica(self, broker: int, partition: TopicPartition) -> bool:
        """Whether there is a folder for the partition."""
        return self._disks[broker].exists(f"{LOG_DIR}/{partition}")

    def _content(self, broker: int, partition: TopicPartition) -> bytes:
        disk = self._disks[broker]
        folder = f"{LOG_DIR}/{partition}"
        if not disk.exists(folder):
            return b""
        segments = [name for name in disk.names(folder) if name.endswith(".log")]
        return b"".join(disk.content(f"{folder}/{name}") for name in segments)


def _parse(data: bytes, position: int, offset: int) -> list[Stored]:
    records: list[Stored] = []
    for place, header in iter_batches(data, position):
        require(
            "P6", header.base_offset == offset + len(records), f"gap at offset {header.base_offset}"
        )
        records.extend(
            Stored(header.partition_leader_epoch, record.value or b"")
            for record in read_records(data, place)
        )
    return records
