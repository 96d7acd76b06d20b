from ballast.replication.leader_epochs import EpochEntry, LeaderEpochCache
from ballast.storage.files.durability import run
from ballast.storage.log.epoch_file import EpochFile
from tests.unit.storage.samples import ROOT, new_disk

PATH = f"{ROOT}/leader-epoch-checkpoint"


def test_what_is_saved_is_not_written_again() -> None:
    disk = new_disk()
    disk.make_directory(ROOT)
    file = EpochFile(disk, LeaderEpochCache([EpochEntry(1, 0)]), is_saved=True)
    run(file.flushes(ROOT, lambda: True))
    assert not disk.holds(PATH)
    file.changed(False)
    assert file.is_saved
    file.changed(True)
    run(file.flushes(ROOT, lambda: True))
    assert file.is_saved
    assert b"1 0" in disk.content(PATH)


def test_a_change_while_the_disk_writes_gives_the_older_content_up() -> None:
    disk = new_disk()
    disk.make_directory(ROOT)
    epochs = LeaderEpochCache([EpochEntry(1, 0)])
    file = EpochFile(disk, epochs, is_saved=False)
    older = file.flushes(ROOT, lambda: True)
    next(older)()
    file.changed(epochs.assign(2, 5))
    run(file.flushes(ROOT, lambda: True))
    run(older)
    assert b"2 5" in disk.content(PATH)


def test_a_log_that_left_its_directory_writes_nothing_there() -> None:
    disk = new_disk()
    disk.make_directory(ROOT)
    file = EpochFile(disk, LeaderEpochCache([EpochEntry(1, 0)]), is_saved=False)
    run(file.flushes(ROOT, lambda: False))
    assert not disk.holds(PATH)
