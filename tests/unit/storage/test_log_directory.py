"""The cleaner's checkpoint of a directory; all else is in the tests of `LogDirs`."""

from random import Random

from ballast.model.ids import TopicPartition
from ballast.storage.durability import run
from ballast.storage.log_directory import LogDirectory
from tests.fakes.disk import FakeDisk
from tests.unit.storage.samples import CONFIG, append, batch

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
PATH = "/d1/cleaner-offset-checkpoint"


def loaded(disk: FakeDisk) -> LogDirectory:
    directory = LogDirectory(disk, "/d1", lambda _: CONFIG)
    directory.check_owner("cluster", 1)
    directory.load()
    return directory


def filled(disk: FakeDisk) -> LogDirectory:
    directory = loaded(disk)
    for partition, name in ((A0, "a-0"), (A1, "a-1")):
        directory.logs[partition] = directory.create(name, partition)
        append(directory.logs[partition], *[batch() for _ in range(5)])
        directory.logs[partition].flush()
    run(directory.checkpoint_flushes())
    return directory


def test_where_compaction_has_come_to() -> None:
    disk = FakeDisk(Random(0))
    directory = filled(disk)
    run(directory.cleaner_offset_flushes(A0, 3))
    run(directory.cleaner_offset_flushes(A1, 4))
    assert disk.content(PATH) == b"0\n2\na 0 3\na 1 4\n"
    assert loaded(disk).cleaner_offsets == {A0: 3, A1: 4}


def test_a_log_that_is_gone_is_not_named_any_more() -> None:
    disk = FakeDisk(Random(0))
    directory = filled(disk)
    run(directory.cleaner_offset_flushes(A0, 3))
    del directory.logs[A0]
    run(directory.cleaner_offset_flushes(A1, 4))
    assert disk.content(PATH) == b"0\n1\na 1 4\n"


def test_a_log_that_is_made_anew_was_never_cleaned() -> None:
    disk = FakeDisk(Random(0))
    directory = filled(disk)
    run(directory.cleaner_offset_flushes(A0, 3))
    directory.create("a-0", A0)
    assert disk.content(PATH) == b"0\n0\n"


def test_what_is_cut_was_not_cleaned() -> None:
    disk = FakeDisk(Random(0))
    directory = filled(disk)
    run(directory.cleaner_offset_flushes(A0, 3))
    directory.logs[A0].truncate_to(4)
    assert directory.cleaner_offsets == {A0: 3}
    directory.logs[A0].truncate_to(2)
    assert disk.content(PATH) == b"0\n1\na 0 2\n"
    append(directory.logs[A0], *[batch() for _ in range(5)])
    assert directory.cleaner_offsets == {A0: 2}
