"""The cleaner's checkpoint of a directory; all else is in the tests of `LogDirs`."""

from random import Random

from ballast.model.ids import TopicPartition
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.files.durability import run
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


def damaged(disk: FakeDisk) -> LogDirectory:
    """Return a directory where the first log cannot be opened, while the second one can."""
    directory = filled(disk)
    run(directory.high_watermark_flushes({A0: 4, A1: 5}))
    directory.logs[A0].close(clean=False)
    disk.rot("/d1/a-0/00000000000000000000.log", 16, 1)
    return loaded(disk)


def test_what_checkpoints_say_of_a_log_that_cannot_be_opened_stays() -> None:
    disk = FakeDisk(Random(0))
    directory = damaged(disk)
    assert (list(directory.logs), list(directory.damaged)) == ([A1], [A0])
    append(directory.logs[A1], batch())
    directory.logs[A1].raise_log_start_offset(2)
    directory.logs[A1].flush()
    run(directory.checkpoint_flushes())
    run(directory.high_watermark_flushes({A1: 6}))
    assert disk.content("/d1/recovery-point-offset-checkpoint") == b"0\n2\na 0 5\na 1 6\n"
    assert disk.content("/d1/replication-offset-checkpoint") == b"0\n2\na 0 4\na 1 6\n"
    directory.leave_clean()
    disk.forget_rot()
    assert loaded(disk).logs[A0].log_end_offset == 5


def test_a_copy_in_the_making_that_is_damaged_goes() -> None:
    disk = FakeDisk(Random(0))
    directory = filled(disk)
    name = f"a-1.{0:032x}-future"
    directory.futures[A1] = directory.create(name, A1)
    append(directory.futures[A1], *[batch() for _ in range(5)])
    directory.futures[A1].flush()
    run(directory.checkpoint_flushes())
    directory.leave_clean()
    disk.rot(f"/d1/{name}/00000000000000000000.log", 4 * len(batch()) + 16, 1)
    directory = loaded(disk)
    assert (list(directory.logs), directory.futures) == ([A0, A1], {})
    assert not disk.holds(f"/d1/{name}")
