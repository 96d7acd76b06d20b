"""Batches and logs for the tests of storage."""

import asyncio
from random import Random

from ballast.model.ids import TopicPartition
from ballast.protocol.records import BatchHeader, build_batch, iter_batches
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import StorageError
from ballast.storage.files.ports import Files
from ballast.storage.log.config import LogConfig
from ballast.storage.log.log import Log
from ballast.storage.log.recovery import open_log
from tests.fakes.disk import FakeDisk

ROOT = "/logs"
PARTITION = TopicPartition("t", 0)
DIRECTORY = f"{ROOT}/t-0"
CONFIG = LogConfig(index_interval_bytes=100)


def batch(
    count: int = 1,
    *,
    size: int = 10,
    timestamp: int = 1000,
    base_offset: int = 0,
    leader_epoch: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
) -> memoryview:
    """Return a writable batch; its records' timestamps go up by one ms."""
    records = [(None, bytes([97 + n % 26]) * size, timestamp + n) for n in range(count)]
    producer_id, producer_epoch, base_sequence = producer
    return memoryview(
        bytearray(
            build_batch(
                records,
                base_offset=base_offset,
                leader_epoch=leader_epoch,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                base_sequence=base_sequence,
            )
        )
    )


def flush_all(dirs: LogDirs) -> None:
    """Make all logs durable and write the checkpoints, as a broker does every minute."""
    for name, log in dirs.logs.items():
        path = dirs.directory_of(name)
        try:
            log.flush()
        except StorageError as error:
            assert path is not None
            dirs.take_offline(path, error)
    asyncio.run(dirs.checkpoint())


def joined(*batches: memoryview) -> memoryview:
    """Return several batches as one buffer."""
    return memoryview(bytearray(b"".join(batches)))


def new_disk(seed: int = 0) -> FakeDisk:
    """Return a disk with an empty partition directory."""
    disk = FakeDisk(Random(seed))
    disk.make_directory(ROOT)
    disk.make_directory(DIRECTORY)
    return disk


def reopened(
    files: Files,
    *,
    config: LogConfig = CONFIG,
    recovery_point: int = 0,
    log_start_offset: int = 0,
    clean: bool = False,
) -> Log:
    """Open the one log of a disk."""
    return open_log(
        files,
        DIRECTORY,
        PARTITION,
        config,
        recovery_point=recovery_point,
        log_start_offset=log_start_offset,
        clean=clean,
    )


def headers(data: bytes | memoryview) -> list[BatchHeader]:
    """Return the headers of the batches in what a read returned, which must be whole."""
    found = [header for _, header in iter_batches(data)]
    assert sum(header.size for header in found) == len(data)
    return found


def contents(log: Log, start: int | None = None) -> list[tuple[int, int]]:
    """Return (base offset, size) of every batch of a log."""
    offset = log.log_start_offset if start is None else start
    found = []
    while offset < log.log_end_offset:
        for header in headers(log.read(offset, max_bytes=1000)):
            found.append((header.base_offset, header.size))
            offset = header.next_offset
    return found


def append(log: Log, *batches: memoryview, epoch: int = 0, now_ms: int = 1000) -> None:
    """Append each batch as a leader."""
    for records in batches:
        log.append_as_leader(records, leader_epoch=epoch, now_ms=now_ms)
