"""Future logs (KIP-113): created in another directory, and swapped with the log in use.

The swap leaves exactly one log in use, wherever it is interrupted:

1. everything of the future log is made durable, and a file in it names the directory it replaces;
2. its directory gets the log's own name: from now on it is the log in use;
3. the directory of the old log is renamed for deletion, and the file is removed.

A start between 2 and 3 finds two directories of one name, of which the one with the file counts.
Kafka has no such file, and does not start. A swap that the disk refuses may have completed step 2:
then the old log, which stays in use, gets such a file too, with a higher number.

A log that is created while directories are offline gets a file that names all of those: an earlier
replica of its partition may lie there, and must not keep the broker from starting when they are
online again (Kafka does not start then either).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.errors import DiskError, StorageError, WrongLogDir
from ballast.storage.files.durability import run
from ballast.storage.files.layout import (
    MOVED_FROM,
    deleted_directory,
    future_directory,
    parse_future_directory,
    partition_directory,
)
from ballast.storage.log.log import Log

NewName = Callable[[], str]
"""Return 32 hexadecimal digits that no directory has yet."""

_MADE_ANEW = 1 << 32
"""The number of a log that was created while directories were offline: above any number of moves.
"""


def create_future(directory: LogDirectory, current: Log, name: NewName) -> Log:
    """Create an empty future log of ``current``, with the same log start offset.

    Raises `UnsafePath` when the topic's name is too long, `StorageError`.
    """
    partition = current.partition
    future = directory.create(future_directory(partition, name()), partition)
    directory.futures[partition] = future
    if current.topic_id is not None:
        future.assign_topic_id(current.topic_id)
    if current.log_start_offset:
        future.truncate_fully_and_start_at(current.log_start_offset)
    return future


def promote(future: Log, target: LogDirectory, source: LogDirectory) -> None:
    """Make a future log that has caught up the log in use (steps 1 and 2).

    Raises `StorageError`; then ``target`` must go offline and the old log stays in use.
    """
    partition = future.partition
    current = source.logs[partition]
    assert future.log_end_offset == current.log_end_offset, "it has caught up"
    future.take_epochs(current.leader_epochs.entries)
    future.flush()
    run(target.checkpoint_flushes())
    unseen = _origins(current) - {target.path, source.path}
    _replace(future, [source.path, *sorted(unseen)], _number(current) + 1)
    _rename(future, target, partition_directory(partition))
    future.config = current.config
    target.logs[partition] = target.futures.pop(partition)
    offset = source.cleaner_offsets.get(partition)
    if offset is not None:
        run(target.cleaner_offset_flushes(partition, offset))
    mark = source.high_watermarks.get(partition)
    if mark is not None:
        run(target.high_watermark_flushes({partition: mark}))


def outrank(current: Log, target: LogDirectory) -> None:
    """Make the log in use count before what a refused swap may have left in ``target``.

    Raises `StorageError`.
    """
    _replace(current, [target.path], _number(current) + 2)


def create_over_unseen(
    directory: LogDirectory, partition: TopicPartition, offline: Iterable[str], unique_hex: str
) -> Log:
    """Create an empty log that counts before what directories that are ``offline`` may hold.

    Until the file is written it has a name that a start removes. Raises `StorageError`.
    """
    log = directory.create(deleted_directory(partition, unique_hex), partition)
    _replace(log, offline, _MADE_ANEW)
    _rename(log, directory, partition_directory(partition))
    return log


def _rename(log: Log, directory: LogDirectory, name: str) -> None:
    folder = f"{directory.path}/{name}"
    directory.files.rename(log.directory, folder)
    directory.files.flush_directory(directory.path)
    log.relocate(folder)


def _replace(log: Log, paths: Iterable[str], number: int) -> None:
    claim = "\n".join([f"{number} {path}" for path in paths])
    log.files.write_whole(f"{log.directory}/{MOVED_FROM}", claim.encode())


def forget_origins(log: Log, online: Collection[str]) -> None:
    """Record that the logs that this one has replaced are gone (the end of step 3).

    Not while one of their directories is not ``online``: it may come back with the log.
    """
    origins = _origins(log)
    if origins and origins.issubset(online):
        log.files.remove(f"{log.directory}/{MOVED_FROM}")
        log.files.flush_directory(log.directory)


def settle(directories: Sequence[LogDirectory], name: NewName) -> None:
    """Keep one log for each partition, after all readable directories are loaded.

    Future logs without use are deleted: those beside their own log, and those whose log is gone,
    unless it may be in an offline directory. Raises `WrongLogDir` for two logs of one partition of
    which neither replaces the other. A directory that fails is marked.
    """
    online = [directory for directory in directories if directory.failure is None]
    all_are_online = len(online) == len(directories)
    owners: dict[TopicPartition, LogDirectory] = {}
    for directory in online:
        for partition in list(directory.logs):
            other = owners.get(partition)
            owners[partition] = directory
            if other is not None:
                owners[partition] = _newer(partition, other, directory, name)
    seen: set[TopicPartition] = set()
    for directory in online:
        for partition, future in list(directory.futures.items()):
            is_orphan = partition not in owners and all_are_online
            if is_orphan or partition in seen or owners.get(partition) is directory:
                del directory.futures[partition]
                _bury(directory, future, name)
            else:
                seen.add(partition)
        with _marked(directory):
            _delete_unloaded_futures(directory, name)
    paths = [directory.path for directory in online]
    for partition, owner in owners.items():
        with _marked(owner):
            forget_origins(owner.logs[partition], paths)


def _newer(
    partition: TopicPartition, one: LogDirectory, other: LogDirectory, name: NewName
) -> LogDirectory:
    """Return the directory whose log replaces the other's, which is deleted."""
    try:
        first, second = _number(one.logs[partition]), _number(other.logs[partition])
        newer, older = (one, other) if first > second else (other, one)
        if older.path in _origins(newer.logs[partition]):
            _bury(older, older.logs.pop(partition), name)
            return newer
    except DiskError as error:
        raise WrongLogDir(f"{partition} lies in two log directories: {error}") from error
    raise WrongLogDir(f"{partition} lies in two log directories")


def _origins(log: Log) -> frozenset[str]:
    """Return the directories of the logs that this one replaces."""
    return frozenset(path for _, path in _claims(log))


def _number(log: Log) -> int:
    """Return the rank of a log's claim to replace others, 0 for none."""
    return max((number for number, _ in _claims(log)), default=0)


def _claims(log: Log) -> list[tuple[int, str]]:
    path = f"{log.directory}/{MOVED_FROM}"
    if not log.files.exists(path):
        return []
    lines = log.files.read_whole(path).decode(errors="replace").split("\n")
    parsed = [line.partition(" ") for line in lines]
    return [(int(number), origin) for number, _, origin in parsed if number.isdecimal()]


def _delete_unloaded_futures(directory: LogDirectory, name: NewName) -> None:
    """Delete further future directories of a partition: only the first was opened."""
    known = {future.directory for future in directory.futures.values()}
    for folder in directory.files.names(directory.path):
        partition = parse_future_directory(folder)
        path = f"{directory.path}/{folder}"
        if partition is not None and path not in known:
            directory.mark_deleted(path, partition, name())


def _bury(directory: LogDirectory, log: Log, name: NewName) -> None:
    log.close(clean=False)
    with _marked(directory):
        directory.mark_deleted(log.directory, log.partition, name())


@contextmanager
def _marked(directory: LogDirectory) -> Iterator[None]:
    """Mark a directory that fails, so that it goes offline and the others stay online."""
    try:
        yield
    except StorageError as error:
        directory.failure = error
