"""Bugs of what brokers do with their disks and clocks: failed writes, lost directories, compaction.

Each undoes one of the rules by which the promises are kept.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ballast.broker.maintenance import housekeeping, log_cleaner, log_dir_moves
from ballast.broker.replicas import fetch
from ballast.broker.replicas.damaged_replicas import DamagedReplicas, DamagedRole
from ballast.broker.replicas.missing_replicas import MissingReplicas
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.replication.producer_state import ProducerSnapshot, ProducerStates
from ballast.storage.cleaning.cleaner import _Cleaning
from ballast.storage.cleaning.compaction import Cleanable, find_cleanable
from ballast.storage.directories.log_directory import LogDirectory
from ballast.storage.directories.log_dirs import LogDirs
from ballast.storage.errors import DiskError
from ballast.storage.files.descriptors import Buffer
from ballast.storage.files.soundness import Sound
from ballast.storage.log import recovery
from ballast.storage.log.log import Log
from ballast.storage.log.retention import apply_retention
from ballast.storage.log.segment import BatchMark, Segment
from tests.simulation.mutants.mutant import Mutant, Seeds, Test

UNIT = "tests/unit/"


def failed_writes_count_as_written(patch: pytest.MonkeyPatch) -> None:
    # A log goes on as if the disk had taken what it has refused.
    append = Segment.append

    def go_on(segment: Segment, records: Buffer, marks: Sequence[BatchMark]) -> None:
        try:
            append(segment, records, marks)
        except DiskError:
            segment.size += len(records)

    patch.setattr(Segment, "append", go_on)


def an_empty_replica_takes_the_place_of_a_lost_one(patch: pytest.MonkeyPatch) -> None:
    # A replica that is not found is made anew, although a directory that may have it is offline.
    none: Mapping[str, DiskError] = {}
    patch.setattr(LogDirs, "offline_directories", none)
    patch.setattr(ReplicaManager, "is_offline", lambda *_: False)


def an_emptied_broker_leads(patch: pytest.MonkeyPatch) -> None:
    # A replica whose disk was replaced is made anew, although the ISR still names it.
    patch.setattr(MissingReplicas, "refuse", lambda *_: False)


def a_directory_is_claimed_before_what_is_missing_is_listed(patch: pytest.MonkeyPatch) -> None:
    # A start that is cut off between the two is the last one that could have found out.
    claim = LogDirectory.claim

    def in_the_wrong_order(
        directory: LogDirectory, cluster_id: str, broker_id: int, missing: Collection[Any]
    ) -> None:
        claim(directory, cluster_id, broker_id, ())
        directory.write_missing(missing)

    patch.setattr(LogDirectory, "claim", in_the_wrong_order)


def two_processes_use_one_directory(patch: pytest.MonkeyPatch) -> None:
    # A broker starts although another process holds the lock.
    lock = LogDirectory.lock

    def go_on(directory: LogDirectory) -> bool:
        lock(directory)
        return True

    patch.setattr(LogDirectory, "lock", go_on)


def a_directory_is_read_before_it_is_locked(patch: pytest.MonkeyPatch) -> None:
    # The lock is taken, but only once recovery has had its way with the files.
    load_all, lock_all = LogDirs.load_all, LogDirs.lock_all

    def too_late(log_dirs: LogDirs, cluster_id: str) -> None:
        load_all(log_dirs, cluster_id)
        lock_all(log_dirs)

    patch.setattr(LogDirs, "lock_all", lambda _: [])
    patch.setattr(LogDirs, "load_all", too_late)


def what_is_not_committed_supersedes(patch: pytest.MonkeyPatch) -> None:
    # Compaction takes everything for committed; what is newest may still be truncated.

    def all_of_it(
        log: Log, checkpoint: int | None, *, high_watermark: int, now_ms: int
    ) -> Cleanable:
        del high_watermark
        return find_cleanable(log, checkpoint, high_watermark=log.log_end_offset, now_ms=now_ms)

    patch.setattr(log_cleaner, "find_cleanable", all_of_it)


def older_records_supersede_newer_ones(patch: pytest.MonkeyPatch) -> None:
    # A key is kept at the first offset of a pass, not at the last.

    def keeps(cleaning: Any, offset: int, key: bytes | None, has_value: bool) -> bool:
        del has_value
        if offset > cleaning.keys.latest_offset or key is None:
            return True
        return bool(cleaning.keys.is_superseded(key, offset))

    patch.setattr(_Cleaning, "_keeps", keeps)


def copies_do_not_follow_truncations(patch: pytest.MonkeyPatch) -> None:
    # A replica that moves to another directory keeps there what was written anew meanwhile.

    def by_length(current: Log, future: Log) -> bool:
        future.truncate_to(current.log_end_offset)
        return True

    patch.setattr(log_dir_moves, "_cut_where_they_part", by_length)


def snapshots_know_the_last_batch_of_a_producer_only(patch: pytest.MonkeyPatch) -> None:
    # As Kafka's do: the first repeat of several requests is not known after a clean stop.
    whole = ProducerStates.snapshot

    def last_only(states: ProducerStates) -> list[ProducerSnapshot]:
        return [replace(producer, earlier=()) for producer in whole(states)]

    patch.setattr(ProducerStates, "snapshot", last_only)


def lag_is_counted_on_the_wall_clock(patch: pytest.MonkeyPatch) -> None:
    # Who lags, and how long a fetcher waits, is told by a clock that leaps.
    init: Callable[..., None] = ReplicaManager.__init__

    def by_the_wall(replicas: ReplicaManager, **parts: Any) -> None:
        wall_clock_ms = parts["wall_clock_ms"]
        init(replicas, **{**parts, "clock": lambda: wall_clock_ms() / 1000})

    patch.setattr(ReplicaManager, "__init__", by_the_wall)


def a_leap_makes_records_old(patch: pytest.MonkeyPatch) -> None:
    # Records go when a clock says so that leaps, long before their time.

    def within_the_hour(log: Log, high_watermark: int, now_ms: int) -> bool:
        log.config = replace(log.config, retention_ms=min(log.config.retention_ms, 3_000_000))
        return apply_retention(log, high_watermark, now_ms)

    patch.setattr(housekeeping, "apply_retention", within_the_hour)


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


LOSS = rules("P1", "P2", "P3", "P4", "P6", "P7")
COMPACTION = rules("P4", "P7", "P17")


def a_damaged_log_goes_while_the_isr_counts_on_it(patch: pytest.MonkeyPatch) -> None:
    # It is copied anew at once, from a leader that may have become one without its records.
    patch.setattr(DamagedReplicas, "role_of", lambda *_: DamagedRole.RENEW)


def recovery_cuts_what_was_durable(patch: pytest.MonkeyPatch) -> None:
    # Whatever lies behind a damaged batch is given up, as if the crash had torn it.
    recover = recovery.recover_segment
    patch.setattr(recovery, "recover_segment", lambda segment, size, _: recover(segment, size, 0))


def damaged_batches_are_sent(patch: pytest.MonkeyPatch) -> None:
    # What is read goes out unseen.
    patch.setattr(fetch, "check_stored", lambda batches, **_: Sound(len(batches), None))


MUTANTS = (
    Mutant(
        a_damaged_log_goes_while_the_isr_counts_on_it,
        Seeds(rules("P20"), ("rot_byte",)),
    ),
    Mutant(
        recovery_cuts_what_was_durable,
        Seeds(LOSS, ("rot_byte", "crash_broker", "crash_all", "isolate")),
    ),
    Mutant(
        damaged_batches_are_sent,
        Test(
            f"{UNIT}broker/replicas/test_damaged_replicas.py::"
            "test_an_in_sync_replica_leads_and_the_damaged_one_is_copied_from_it",
        ),
    ),
    Mutant(
        failed_writes_count_as_written,
        Seeds(LOSS | {"P15"}, ("fill_disk", "crash_broker", "fail_directory")),
    ),
    Mutant(
        an_empty_replica_takes_the_place_of_a_lost_one,
        Seeds(LOSS | {"C7"}, ("fail_directory", "crash_broker")),
    ),
    Mutant(
        an_emptied_broker_leads,
        Seeds(rules("P18"), ("replace_disk", "crash_broker", "crash_candidate")),
        published="KAFKA-14139",
    ),
    Mutant(
        a_directory_is_claimed_before_what_is_missing_is_listed,
        Test(
            f"{UNIT}storage/directories/test_log_dirs_claim.py::"
            "test_a_claim_that_is_cut_off_leaves_a_fresh_directory_or_the_whole_list",
            cut=3,
            keep_page_cache=True,
        ),
    ),
    Mutant(two_processes_use_one_directory, Seeds(rules("P19"), ("second_process",))),
    Mutant(
        snapshots_know_the_last_batch_of_a_producer_only,
        Test(
            "tests/simulation/test_restart_at_once.py::"
            "test_an_idempotent_writer_outlives_the_end_of_everything_at_once",
            seed=6,
        ),
    ),
    Mutant(a_directory_is_read_before_it_is_locked, Seeds(rules("P19"), ("second_process",))),
    Mutant(
        what_is_not_committed_supersedes,
        Seeds(COMPACTION, ("isolate", "pause", "cut_link", "crash_broker")),
    ),
    Mutant(older_records_supersede_newer_ones, Seeds(COMPACTION, ("crash_broker",))),
    Mutant(
        copies_do_not_follow_truncations,
        Test(
            f"{UNIT}broker/maintenance/test_log_dir_moves.py::test_the_copy_is_cut_where_the_log_was_cut"
        ),
    ),
    Mutant(a_leap_makes_records_old, Seeds(LOSS, ("jump_clock",))),
    Mutant(
        lag_is_counted_on_the_wall_clock,
        Seeds(rules("C7", "T1"), ("jump_clock", "crash_broker", "cut_link")),
    ),
)
