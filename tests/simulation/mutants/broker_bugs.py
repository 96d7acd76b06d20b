"""Bugs of replication: fences, epochs, the ISR, the high watermark, truncation."""

from typing import Any

import pytest

from ballast.broker.cluster.identity import ControllerFence
from ballast.broker.errors import PartitionError
from ballast.broker.following.fetcher import ReplicaFetcher
from ballast.broker.following.fetcher_manager import FetcherManager
from ballast.broker.following.replica_roles import ReplicaStateHandler, ReplicaStop
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas import fetch
from ballast.model.leadership import LeaderAndIsr
from ballast.net.control_messages import to_wire
from ballast.net.controller_channels import ControllerChannels
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.replication.fetch_session import FetchSession
from ballast.replication.fetch_sessions import FetchSessions
from ballast.replication.follower import FetchState
from ballast.replication.isr import Committed
from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.partition import AcksAll, LeaderView
from ballast.replication.progress import FollowerProgress
from tests.simulation import replica_group
from tests.simulation.mutants.mutant import ASSERTION, Mutant, Seeds, Test, Walks
from tests.simulation.replica_group import Replica, ReplicaGroup

UNIT = "tests/unit/"


def high_watermark_over_the_isr_alone(patch: pytest.MonkeyPatch) -> None:
    # A member that is being added may be elected already: it must have what is committed.
    patch.setattr(LeaderView, "required_replicas", lambda view: view.isr)


def acknowledged_before_it_is_replicated(patch: pytest.MonkeyPatch) -> None:
    # acks=all is answered after the leader's own append.
    patch.setattr(LeaderView, "acks_all", lambda *_: AcksAll.DONE)


def isr_takes_in_who_lacks_the_epochs_start(patch: pytest.MonkeyPatch) -> None:
    # A follower joins at the high watermark, which may be older than the leader's epoch.

    def at_the_mark(view: LeaderView, follower_id: int) -> bool:
        progress = view._followers.get(follower_id)
        return progress is not None and progress.log_end_offset >= view.high_watermark

    patch.setattr(LeaderView, "_is_caught_up_for_isr", at_the_mark)


def lost_isr_write_is_taken_for_failed(patch: pytest.MonkeyPatch) -> None:
    # After a lost reply the leader believes in the ISR that it has read, and no longer waits.

    def believed(view: LeaderView, read: LeaderAndIsr) -> None:
        view._isr_state = Committed(leader_and_isr=read)

    patch.setattr(LeaderView, "isr_read", believed)


def offsets_of_an_older_epoch_count(patch: pytest.MonkeyPatch) -> None:
    # A new leader takes members of the ISR as having all that it has.

    def at_epoch_start(cls: Any, *, in_sync: bool, now: float) -> FollowerProgress:
        known = FollowerProgress(last_caught_up_time=now)
        return cls(log_end_offset=10**9, last_caught_up_time=now) if in_sync else known

    patch.setattr(FollowerProgress, "at_epoch_start", classmethod(at_epoch_start))


def fetches_of_other_epochs_are_answered(patch: pytest.MonkeyPatch) -> None:
    # A leader takes a fetch of any epoch for an acknowledgement in its own.
    patch.setattr(replica_group, "check_leader_epoch", lambda *_: None)


def epochs_outlive_their_records(patch: pytest.MonkeyPatch) -> None:
    # A truncation leaves the epochs of what was cut off.
    patch.setattr(LeaderEpochCache, "truncate_from_end", lambda *_: False)


class TruncatesToItsHighWatermark(ReplicaGroup):
    # A follower drops what it does not know to be committed, and states no epoch.

    def last_fetched_epoch(self, broker: Replica) -> int:
        del broker
        return -1

    def become_follower(self, broker: Replica) -> None:
        broker.truncate(broker.high_watermark)


def truncation_to_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    # What Kafka did before KIP-101, in the model.
    del patch


def followers_begin_at_their_high_watermark(patch: pytest.MonkeyPatch) -> None:
    # What Kafka did before KIP-101, in the broker.
    add = ReplicaFetcher.add

    def truncate_first(fetcher: ReplicaFetcher, partition: Partition) -> None:
        partition.truncate(partition.high_watermark)
        add(fetcher, partition)

    patch.setattr(ReplicaFetcher, "add", truncate_first)


def deposed_controllers_are_obeyed(patch: pytest.MonkeyPatch) -> None:
    # A broker does not look at the epoch of the controller that speaks.

    def any_controller(fence: ControllerFence, controller_epoch: int, broker_epoch: int) -> Any:
        del controller_epoch
        return ErrorCode.STALE_BROKER_EPOCH if fence._is_stale(broker_epoch) else None

    patch.setattr(ControllerFence, "check", any_controller)


def words_to_an_earlier_process_are_obeyed(patch: pytest.MonkeyPatch) -> None:
    # A bounced broker does what was meant for the process before it.
    patch.setattr(ControllerFence, "_is_stale", lambda *_: False)


def stops_of_the_same_epoch_are_ignored(patch: pytest.MonkeyPatch) -> None:
    # A cancel raises no epoch, so the stray it leaves is never deleted.
    stop_ = ReplicaStateHandler._stop

    def newer_only(leadership: ReplicaStateHandler, stop: ReplicaStop) -> None:
        known = leadership._replicas.partitions.get(stop.name)
        if known is not None and stop.leader_epoch == known.leader_epoch:
            raise PartitionError(ErrorCode.FENCED_LEADER_EPOCH)
        stop_(leadership, stop)

    patch.setattr(ReplicaStateHandler, "_stop", newer_only)


def same_leader_in_a_new_epoch_is_no_news(patch: pytest.MonkeyPatch) -> None:
    # A follower keeps on asking in the old epoch when the leader is still the same.
    add = ReplicaFetcher.add

    def unless_known(fetcher: ReplicaFetcher, partition: Partition) -> None:
        if partition.name not in fetcher._followed:
            add(fetcher, partition)

    patch.setattr(FetcherManager, "unfollow", lambda *_: None)
    patch.setattr(ReplicaFetcher, "add", unless_known)


def answers_from_before_are_taken(patch: pytest.MonkeyPatch) -> None:
    # A follower takes an answer although epoch or log have changed since it asked.
    patch.setattr(FetchState, "matches", lambda *_: True)


def consumers_see_what_is_not_committed(patch: pytest.MonkeyPatch) -> None:
    # Consumers are given the log to its end.
    patch.setattr(fetch, "upper_offset", lambda partition, *_: partition.log.log_end_offset)


def followers_at_rest_have_what_is_appended_next(patch: pytest.MonkeyPatch) -> None:
    # Fetches of a session acknowledge for its partitions at rest up to the leader's end, whatever
    # that has become.
    caught_up = LeaderView.caught_up_until

    def and_what_follows(view: LeaderView, follower_id: int, time: float) -> None:
        caught_up(view, follower_id, time)
        progress = view._followers[follower_id]
        view._followers[follower_id] = progress._replace(log_end_offset=10**9)

    patch.setattr(LeaderView, "caught_up_until", and_what_follows)


def forgotten_partitions_count_as_fetched(patch: pytest.MonkeyPatch) -> None:
    # A follower that fetches a partition no more stays caught up in it by its other fetches.

    def keep(session: FetchSession[Any, Any], key: Any) -> bool:
        return key in session.partitions

    patch.setattr(FetchSession, "remove", keep)
    patch.setattr(FetchSessions, "_unwatch", lambda *_: None)


def sessions_miss_what_happens_between_fetches(patch: pytest.MonkeyPatch) -> None:
    # A session answers from the state in which its last answer left it.
    mark = FetchSession.mark

    def while_pending(session: FetchSession[Any, Any], key: Any) -> None:
        if key in session.pending:
            mark(session, key)

    patch.setattr(FetchSession, "mark", while_pending)


def topic_made_anew_gets_old_records(patch: pytest.MonkeyPatch) -> None:
    # A topic's id is not compared with that of the replica on disk.
    patch.setattr(Partition, "take_topic_id", lambda *_: None)


def undelivered_commands_are_skipped(patch: pytest.MonkeyPatch) -> None:
    # A command that a broker did not answer in time is not sent again.

    async def once(_: ControllerChannels, waiting: Any, command: Any) -> Any:
        message, version = to_wire(command)
        while True:
            try:
                return await waiting.channel.request(message, version)
            except NetError:
                message, version = to_wire(await waiting.queue.get())

    patch.setattr(ControllerChannels, "_response", once)


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


REPLICATION = rules("P1", "P2", "P3", "P4", "P6", "P7")

MUTANTS = (
    Mutant(high_watermark_over_the_isr_alone, Walks(rules("P7")), "KAFKA-12686"),
    Mutant(acknowledged_before_it_is_replicated, Walks(REPLICATION)),
    Mutant(
        isr_takes_in_who_lacks_the_epochs_start,
        Test(
            f"{UNIT}replication/test_partition.py::TestExpansion"
            "::test_needs_the_high_watermark_and_the_start_of_the_epoch"
        ),
        "KAFKA-7128",
    ),
    Mutant(lost_isr_write_is_taken_for_failed, Walks(REPLICATION | {ASSERTION}), "KAFKA-13091"),
    Mutant(offsets_of_an_older_epoch_count, Walks(REPLICATION)),
    Mutant(fetches_of_other_epochs_are_answered, Walks(REPLICATION)),
    Mutant(epochs_outlive_their_records, Walks(REPLICATION), "KAFKA-10706"),
    Mutant(
        truncation_to_the_high_watermark,
        Walks(REPLICATION, TruncatesToItsHighWatermark),
        "KAFKA-1211",
    ),
    Mutant(followers_begin_at_their_high_watermark, Seeds(REPLICATION), "KAFKA-1211"),
    Mutant(
        deposed_controllers_are_obeyed,
        Test(f"{UNIT}broker/apis/control/test_leader_and_isr.py::test_stale_epochs_change_nothing"),
        "KAFKA-1188",
    ),
    Mutant(
        words_to_an_earlier_process_are_obeyed,
        Test(f"{UNIT}broker/apis/control/test_leader_and_isr.py::test_stale_epochs_change_nothing"),
        "KAFKA-7235",
    ),
    Mutant(
        stops_of_the_same_epoch_are_ignored,
        Test(
            f"{UNIT}broker/following/test_replica_roles.py::test_which_stops_are_taken",
            leader_epoch=5,
            code=ErrorCode.NONE,
        ),
        "KAFKA-13972",
    ),
    Mutant(
        undelivered_commands_are_skipped,
        Test(f"{UNIT}net/test_controller_channels.py::test_a_silent_broker_is_asked_again"),
    ),
    Mutant(
        same_leader_in_a_new_epoch_is_no_news,
        Test(
            f"{UNIT}broker/following/test_fetcher.py"
            "::test_the_same_leader_in_a_new_epoch_is_followed_in_that_epoch"
        ),
        "KAFKA-7164",
    ),
    Mutant(
        answers_from_before_are_taken,
        Test(
            f"{UNIT}replication/test_follower.py::TestFetchState"
            "::test_an_answer_counts_only_for_the_state_it_was_asked_from"
        ),
        "KAFKA-7786",
    ),
    Mutant(
        consumers_see_what_is_not_committed,
        Test(
            f"{UNIT}broker/replicas/test_fetch.py"
            "::test_consumers_see_the_high_watermark_and_replicas_the_end"
        ),
        "KAFKA-9835",
    ),
    Mutant(followers_at_rest_have_what_is_appended_next, Seeds(REPLICATION)),
    Mutant(
        forgotten_partitions_count_as_fetched,
        Test(
            f"{UNIT}broker/apis/records/test_fetch_sessions.py"
            "::test_a_follower_that_forgets_a_partition_lags_behind_its_appends"
        ),
    ),
    Mutant(sessions_miss_what_happens_between_fetches, Seeds(REPLICATION | {"C7"})),
    Mutant(
        topic_made_anew_gets_old_records,
        Test(
            f"{UNIT}broker/following/test_replica_roles.py"
            "::test_a_topic_made_anew_does_not_get_the_old_ones_records"
        ),
        "KAFKA-14190",
    ),
)
