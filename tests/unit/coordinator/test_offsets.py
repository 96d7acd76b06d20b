import pytest

from ballast.coordinator.offsets import Expiry, GroupOffsets
from ballast.model.ids import TopicPartition
from tests.fakes.group_ports import EPOCH_MS
from tests.unit.coordinator.harness import P0, P1, offset

OLD, NEW = offset(1), offset(2)


def test_a_commit_counts_when_it_is_complete() -> None:
    offsets = GroupOffsets()
    offsets.begin({P0: OLD})
    assert offsets.get(P0) is None
    assert offsets.is_pending(P0)
    assert not offsets.is_empty
    offsets.complete({P0: OLD}, 7)
    assert offsets.get(P0) == OLD
    assert not offsets.is_pending(P0)


def test_a_commit_that_failed_leaves_what_was() -> None:
    offsets = GroupOffsets()
    offsets.load(P0, 3, OLD)
    offsets.begin({P0: NEW})
    offsets.fail({P0: NEW})
    assert offsets.committed == {P0: OLD}
    assert not offsets.is_pending(P0)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_later_in_the_log_counts_whichever_is_answered_first(order: tuple[int, int]) -> None:
    offsets = GroupOffsets()
    commits = [(OLD, 10), (NEW, 11)]
    for committed, _ in commits:
        offsets.begin({P0: committed})
    for index in order:
        committed, log_offset = commits[index]
        offsets.complete({P0: committed}, log_offset)
    assert offsets.get(P0) == NEW
    assert not offsets.is_pending(P0)


def test_the_end_of_an_earlier_commit_leaves_the_later_one_pending() -> None:
    offsets = GroupOffsets()
    offsets.begin({P0: OLD})
    offsets.begin({P0: NEW})
    offsets.fail({P0: OLD})
    assert offsets.is_pending(P0)


def test_what_was_removed_meanwhile_does_not_come_back() -> None:
    offsets = GroupOffsets()
    offsets.begin({P0: OLD, P1: OLD})
    assert offsets.remove([P0]) == []
    offsets.complete({P0: OLD, P1: OLD}, 1)
    assert offsets.committed == {P1: OLD}
    assert offsets.remove_all() == [P1]
    assert offsets.is_empty


OTHER = TopicPartition("other", 0)
LATER = EPOCH_MS + 1000


@pytest.mark.parametrize(
    ("expiry", "removed"),
    [
        (Expiry(now_ms=LATER, retention_ms=1001), []),
        (Expiry(now_ms=LATER, retention_ms=1000), [P0, OTHER]),
        (Expiry(now_ms=LATER, retention_ms=1000, base_ms=EPOCH_MS + 1), []),
        (Expiry(now_ms=LATER, retention_ms=500, base_ms=EPOCH_MS + 500), [P0, OTHER]),
        (Expiry(now_ms=LATER, retention_ms=1000, base_ms=EPOCH_MS - 1), [P0, OTHER]),
        (Expiry(now_ms=LATER, retention_ms=1001, base_ms=EPOCH_MS - 1), []),
        (Expiry(now_ms=LATER, retention_ms=1, subscribed_topics=frozenset({"orders"})), [OTHER]),
    ],
)
def test_what_is_due(expiry: Expiry, removed: list[TopicPartition]) -> None:
    offsets = GroupOffsets()
    offsets.load(P0, 0, OLD)
    offsets.load(OTHER, 0, OLD)
    assert offsets.remove_due(expiry) == removed
    assert set(offsets.committed) == {P0, OTHER} - set(removed)


@pytest.mark.parametrize(("expires_ms", "is_due"), [(LATER, True), (LATER + 1, False)])
def test_a_retention_of_its_own_outranks_the_brokers(expires_ms: int, is_due: bool) -> None:
    committed = offset(1, expire_timestamp_ms=expires_ms)
    for retention_ms in (1, 10**9):
        assert Expiry(now_ms=LATER, retention_ms=retention_ms).is_due("t", committed) is is_due


def test_nothing_expires_while_a_commit_of_it_is_under_way() -> None:
    offsets = GroupOffsets()
    offsets.load(P0, 0, OLD)
    offsets.begin({P0: NEW})
    assert offsets.remove_due(Expiry(now_ms=LATER, retention_ms=1)) == []
