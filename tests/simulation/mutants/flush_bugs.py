"""Bugs of what waits for the disk in the background, while the log goes on or goes away.

Each undoes one of the rules by which the promises are kept.
"""

import pytest

from ballast.broker.broker import Broker
from ballast.storage.cleaning.cleaner import _Cleaning
from ballast.storage.files.durability import Flushes
from ballast.storage.log.log import Log
from tests.simulation.mutants.mutant import Mutant, Seeds, Test

DURABILITY = "tests/unit/storage/files/test_durability.py::"
CLEANER = "tests/unit/storage/cleaning/test_cleaner.py::"


def a_flush_vouches_for_what_was_appended_meanwhile(patch: pytest.MonkeyPatch) -> None:
    # The recovery point is where the log ends after the flush, not where it ended before.
    flushes = Log.flushes

    def up_to_the_end(log: Log) -> Flushes:
        yield from flushes(log)
        log.recovery_point = log.log_end_offset

    patch.setattr(Log, "flushes", up_to_the_end)


def the_cleaner_ends_after_the_directories_are_unlocked(patch: pytest.MonkeyPatch) -> None:
    # What it was writing is removed when another process may be writing a file of that name.
    async def only_cancel(broker: Broker) -> None:
        for task in list(broker._background):
            task.cancel()

    patch.setattr(Broker, "_end_background_work", only_cancel)


def a_log_that_has_left_its_folder_is_cleaned_there(patch: pytest.MonkeyPatch) -> None:
    # The folder is not there any more, and the whole directory is taken for failed.
    patch.setattr(_Cleaning, "check", lambda _: None)


MUTANTS = (
    Mutant(
        a_flush_vouches_for_what_was_appended_meanwhile,
        Test(f"{DURABILITY}test_what_is_appended_meanwhile_is_left_for_the_next_flush"),
    ),
    Mutant(
        the_cleaner_ends_after_the_directories_are_unlocked,
        Seeds(frozenset({"P19"}), ("roll_broker", "crash_broker")),
    ),
    Mutant(
        a_log_that_has_left_its_folder_is_cleaned_there,
        Test(f"{CLEANER}test_a_log_whose_folder_is_renamed_at_any_step_fails_no_directory"),
    ),
)
