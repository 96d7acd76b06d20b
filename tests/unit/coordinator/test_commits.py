"""Commits, deletions and expiry, in Kafka's order of checks."""

from typing import Any

import pytest

from ballast.coordinator.commits import committed_offset
from ballast.coordinator.records import (
    group_tombstone,
    offset_record,
    offset_tombstone,
    read_key,
)
from ballast.coordinator.requests import CommittedOffset
from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode
from tests.unit.coordinator.harness import (
    DELAY_MS,
    GROUP,
    P0,
    P1,
    REBALANCE_MS,
    Harness,
    offset,
)
from tests.unit.coordinator.test_subscriptions import subscription

NONE = ErrorCode.NONE
MINUTE_MS = 60_000
OTHER = TopicPartition("other", 0)


def committed(harness: Harness, *, stable: bool = False) -> CommittedOffset | ErrorCode | None:
    error, found = committed_offset(harness.group, P0, require_stable=stable)
    return found if error is NONE else error


def test_a_group_may_only_store_offsets() -> None:
    harness = Harness()
    assert harness.commit({P0: offset(5)}) == [{P0: NONE}]
    assert committed(harness) == offset(5)
    assert harness.state() is GroupState.EMPTY
    assert harness.journal.batches == [(0, [offset_record(GROUP, P0, offset(5))])]


def test_a_commit_is_answered_and_seen_once_it_is_replicated() -> None:
    harness = Harness()
    harness.commit({P0: offset(5)})
    harness.journal.holds = True
    answers = harness.commit({P0: offset(6), P1: offset(1)})
    assert answers == []
    assert committed(harness) == offset(5)
    assert committed(harness, stable=True) is ErrorCode.UNSTABLE_OFFSET_COMMIT
    harness.journal.release()
    assert answers == [{P0: NONE, P1: NONE}]
    assert committed(harness, stable=True) == offset(6)


def test_commits_that_are_answered_out_of_order_count_in_the_logs() -> None:
    harness = Harness()
    harness.journal.holds = True
    harness.commit({P0: offset(1)})
    harness.commit({P0: offset(2)})
    harness.journal.release(last_first=True)
    assert committed(harness) == offset(2)


@pytest.mark.parametrize(
    ("failure", "answer"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT),
    ],
)
def test_a_commit_that_failed_changes_nothing(failure: ErrorCode, answer: ErrorCode) -> None:
    harness = Harness()
    harness.commit({P0: offset(5)})
    harness.journal.error = failure
    assert harness.commit({P0: offset(6)}) == [{P0: answer}]
    assert committed(harness, stable=True) == offset(5)


@pytest.mark.parametrize(
    ("length", "error"), [(0, NONE), (10, NONE), (11, ErrorCode.OFFSET_METADATA_TOO_LARGE)]
)
def test_long_metadata_is_refused_by_itself(length: int, error: ErrorCode) -> None:
    harness = Harness(offset_metadata_max_bytes=10)
    long = offset(1, metadata="x" * length)
    assert harness.commit({P0: long}) == [{P0: error}]
    assert harness.commit({P0: long, P1: offset(2)}) == [{P0: error, P1: NONE}]
    assert len(harness.journal.records) == (1 if error else 3)
    assert not harness.group.offsets.is_pending(P0)


# -- who may commit ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member_id", "generation_id", "instance_id", "error"),
    [
        ("client-id1", 1, None, NONE),
        ("client-id1", 0, None, ErrorCode.ILLEGAL_GENERATION),
        ("client-id1", -1, None, ErrorCode.ILLEGAL_GENERATION),
        ("nobody", 1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("", -1, None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("client-id1", 1, "unknown", NONE),
    ],
)
def test_of_a_group_with_members(
    member_id: str, generation_id: int, instance_id: str | None, error: ErrorCode
) -> None:
    harness = Harness()
    harness.stable()
    answers = harness.commit(
        {P0: offset(5)}, member_id, generation_id, group_instance_id=instance_id
    )
    assert answers == [{P0: error}]
    assert (committed(harness) is None) is (error is not NONE)


def test_a_generation_of_a_group_that_is_not_there_has_passed() -> None:
    harness = Harness()
    assert harness.commit({P0: offset(5)}, "m", 3) == [{P0: ErrorCode.ILLEGAL_GENERATION}]
    assert harness.coordinator.group(GROUP) is None


def test_a_static_member_that_was_replaced_is_fenced() -> None:
    harness = Harness()
    (old,) = harness.stable(group_instance_id="")
    harness.join(group_instance_id="instance-0")
    answers = harness.commit({P0: offset(5)}, old.member_id, 1, group_instance_id="instance-0")
    assert answers == [{P0: ErrorCode.FENCED_INSTANCE_ID}]


def test_members_commit_while_others_are_awaited_but_not_before_their_assignment() -> None:
    harness = Harness()
    leader, _ = harness.stable(2)
    again = harness.join()
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert harness.commit({P0: offset(5)}, leader.member_id, 1) == [{P0: NONE}]
    harness.join(leader.member_id)
    harness.advance(REBALANCE_MS)
    generation_id = again[0].generation_id
    assert harness.state() is GroupState.COMPLETING_REBALANCE
    answers = harness.commit({P0: offset(6)}, leader.member_id, generation_id)
    assert answers == [{P0: ErrorCode.REBALANCE_IN_PROGRESS}]


def test_a_commit_is_a_sign_of_life() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    for number in range(3):
        harness.advance(9_000)
        harness.commit({P0: offset(number)}, leader.member_id, 1)
    assert harness.state() is GroupState.STABLE


# -- forgetting --------------------------------------------------------------------------------


def test_a_group_is_deleted_with_its_offsets() -> None:
    harness = Harness()
    (leader,) = harness.stable()
    harness.commit({P0: offset(5)}, leader.member_id, 1)
    assert harness.coordinator.delete_group(GROUP) is ErrorCode.NON_EMPTY_GROUP
    harness.leave(leader.member_id)
    assert harness.coordinator.delete_group(GROUP) is NONE
    assert harness.coordinator.group(GROUP) is None
    tombstones = [offset_tombstone(GROUP, P0), group_tombstone(GROUP)]
    assert harness.journal.batches[-1] == (0, tombstones)
    assert harness.coordinator.delete_group(GROUP) is ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_that_was_never_stored_needs_no_tombstone() -> None:
    harness = Harness()
    harness.commit({P0: offset(5)})
    assert harness.coordinator.delete_group(GROUP) is NONE
    assert harness.journal.batches[-1] == (0, [offset_tombstone(GROUP, P0)])


def test_a_commit_that_comes_through_after_the_deletion_is_not_seen() -> None:
    harness = Harness()
    harness.journal.holds = True
    answers = harness.commit({P0: offset(5)})
    harness.coordinator.delete_group(GROUP)
    harness.journal.release()
    assert answers == [{P0: NONE}]
    assert harness.coordinator.group(GROUP) is None


def consumers(**fields: Any) -> Harness:
    """Return a stable group that is subscribed to ``orders``."""
    harness = Harness(offsets_retention_ms=MINUTE_MS)
    harness.stable(protocols=(("range", subscription("orders")),), **fields)
    harness.group.offsets.load(P0, 0, offset(1))
    harness.group.offsets.load(OTHER, 0, offset(2))
    return harness


@pytest.mark.parametrize(
    ("protocol_type", "error", "outcome"),
    [
        ("consumer", NONE, {P0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, OTHER: NONE}),
        ("connect", ErrorCode.NON_EMPTY_GROUP, {}),
    ],
)
def test_offsets_that_are_read_are_not_deleted(
    protocol_type: str, error: ErrorCode, outcome: dict[TopicPartition, ErrorCode]
) -> None:
    harness = consumers(protocol_type=protocol_type)
    assert harness.coordinator.delete_offsets(GROUP, [P0, OTHER]) == (error, outcome)
    kept = {P0, OTHER} - {name for name, code in outcome.items() if code is NONE}
    assert set(harness.group.offsets.committed) == kept


def test_offsets_of_an_empty_group_are_deleted_and_the_group_with_the_last() -> None:
    harness = Harness()
    harness.commit({P0: offset(5), P1: offset(6)})
    assert harness.coordinator.delete_offsets(GROUP, [P0]) == (NONE, {P0: NONE})
    assert set(harness.group.offsets.committed) == {P1}
    assert harness.coordinator.delete_offsets(GROUP, [P1]) == (NONE, {P1: NONE})
    assert harness.coordinator.delete_offsets(GROUP, [P1]) == (ErrorCode.GROUP_ID_NOT_FOUND, {})


def test_what_nobody_reads_expires() -> None:
    harness = consumers(session_timeout_ms=1_800_000)
    harness.advance(2 * MINUTE_MS)
    assert harness.coordinator.expire_offsets() == 1
    assert set(harness.group.offsets.committed) == {P0}
    assert harness.journal.records[-1] == offset_tombstone(GROUP, OTHER)


def test_an_empty_group_keeps_its_offsets_for_as_long_as_is_said_and_ends_with_them() -> None:
    harness = consumers(session_timeout_ms=1_800_000)
    harness.advance(5 * MINUTE_MS)
    (member_id,) = harness.group.members
    harness.leave(member_id)
    harness.advance(MINUTE_MS - 1)
    assert harness.coordinator.expire_offsets() == 0
    harness.advance(1)
    assert harness.coordinator.expire_offsets() == 2
    assert harness.coordinator.groups == ()
    keys = [read_key(key) for key, value in harness.journal.records if value is None]
    assert len(keys) == 3


def test_offsets_of_an_empty_group_that_is_being_joined_do_not_expire() -> None:
    # KAFKA-13636: the commits are old, but the group has been empty for seconds only.
    harness = consumers(session_timeout_ms=1_800_000)
    harness.advance(5 * MINUTE_MS)
    (member_id,) = harness.group.members
    harness.leave(member_id)
    harness.advance(1)
    joined = harness.join(protocols=(("range", subscription("orders")),))
    assert harness.state() is GroupState.PREPARING_REBALANCE
    assert harness.coordinator.expire_offsets() == 0
    refused = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert harness.coordinator.delete_offsets(GROUP, [P0]) == (NONE, {P0: refused})
    harness.advance(DELAY_MS)
    assert [one.error for one in joined] == [NONE]
    assert harness.coordinator.expire_offsets() == 0
    harness.sync(joined[0], {joined[0].member_id: b""})
    assert harness.coordinator.expire_offsets() == 1
    assert set(harness.group.offsets.committed) == {P0}


def test_a_group_without_offsets_ends_unless_somebody_is_about_to_join() -> None:
    harness = Harness()
    (sent_back,) = harness.join(requires_known_member_id=True)
    assert harness.coordinator.expire_offsets() == 0
    assert harness.join(sent_back.member_id) == []
    harness.advance(DELAY_MS)
    harness.leave(sent_back.member_id)
    assert harness.coordinator.expire_offsets() == 0
    assert harness.coordinator.groups == ()


def test_offsets_of_deleted_partitions_are_forgotten() -> None:
    harness = consumers()
    harness.coordinator.forget_partitions([P0])
    assert set(harness.group.offsets.committed) == {OTHER}
    assert harness.journal.records[-1] == offset_tombstone(GROUP, P0)
    count = len(harness.journal.records)
    harness.coordinator.forget_partitions([P0, P1])
    assert len(harness.journal.records) == count
