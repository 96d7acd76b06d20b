"""The leader's rules, one by one; `test_replica_group` walks them all at random."""

import pytest
from msgspec.structs import replace

from ballast.model.assignments import ReplicaAssignment
from ballast.model.leadership import LeaderAndIsr
from ballast.replication.errors import NoIsrChangeInFlight, NotAReplica, NotEnoughReplicas
from ballast.replication.partition import AcksAll, LeaderView

LAG = 30_000


def view_of(
    isr: tuple[int, ...] = (1, 2, 3),
    assignment: ReplicaAssignment | None = None,
    *,
    log_end_offset: int = 10,
    high_watermark: int = 10,
) -> LeaderView:
    return LeaderView(
        1,
        LeaderAndIsr(leader=1, leader_epoch=5, isr=isr, controller_epoch=1, zk_version=3),
        assignment or ReplicaAssignment.of(1, 2, 3),
        log_end_offset=log_end_offset,
        high_watermark=high_watermark,
        now=100.0,
    )


def fetch(view: LeaderView, follower: int, offset: int, end: int, now: float = 101.0) -> None:
    view.record_fetch(follower, offset, 0, now, end)


class TestHighWatermark:
    def test_waits_for_every_isr_member_to_fetch_in_this_epoch(self) -> None:
        view = view_of(high_watermark=4)
        fetch(view, 2, 10, 10)

        assert not view.advance_high_watermark(10, 101.0, LAG)
        fetch(view, 3, 8, 10)

        assert view.advance_high_watermark(10, 101.0, LAG)
        assert view.high_watermark == 8

    def test_never_decreases(self) -> None:
        view = view_of(high_watermark=10)
        for follower in (2, 3):
            fetch(view, follower, 6, 10)

        assert not view.advance_high_watermark(10, 101.0, LAG)
        assert view.high_watermark == 10

    def test_never_passes_the_end_of_the_log(self) -> None:
        assert view_of(log_end_offset=5, high_watermark=9).high_watermark == 5

    def test_a_sole_in_sync_replica_commits_alone(self) -> None:
        view = view_of(isr=(1,))

        assert view.advance_high_watermark(12, 101.0, LAG)
        assert view.high_watermark == 12

    def test_waits_for_a_replica_that_is_about_to_join(self) -> None:
        view = view_of(isr=(1, 2))
        fetch(view, 3, 10, 10)
        fetch(view, 2, 12, 12)

        assert not view.advance_high_watermark(12, 101.0, LAG)
        assert view.advance_high_watermark(12, 101.0 + LAG, LAG)

    def test_waits_for_a_member_that_is_being_added(self) -> None:
        view = view_of(isr=(1, 2))
        fetch(view, 3, 10, 10)
        assert view.propose_expand(3) is not None
        fetch(view, 2, 12, 12)

        assert not view.advance_high_watermark(12, 101.0 + LAG, LAG)

    def test_waits_for_an_isr_member_that_the_assignment_no_longer_names(self) -> None:
        view = view_of(isr=(1, 2, 9))
        fetch(view, 2, 12, 12)

        assert not view.advance_high_watermark(12, 101.0, LAG)


class TestFetches:
    def test_of_a_stranger_is_refused(self) -> None:
        with pytest.raises(NotAReplica):
            fetch(view_of(), 9, 10, 10)

    def test_beyond_the_end_is_the_callers_bug(self) -> None:
        with pytest.raises(AssertionError):
            fetch(view_of(), 2, 11, 10)


class TestMissedMembers:
    def test_a_member_that_does_not_fetch_is_missed(self) -> None:
        view = view_of(isr=(1, 2))
        assert view.misses_a_member(101.0, 1_000)
        fetch(view, 2, 5, 10)
        assert not view.misses_a_member(102.0, 1_000)
        assert view.misses_a_member(102.1, 1_000)

    def test_others_are_not(self) -> None:
        assert not view_of(isr=(1,)).misses_a_member(101.0, 1_000)


class TestAcksAll:
    def test_is_refused_below_min_isr(self) -> None:
        view = view_of(isr=(1,))

        view.check_enough_replicas(1)
        with pytest.raises(NotEnoughReplicas):
            view.check_enough_replicas(2)

    def test_waits_for_the_high_watermark(self) -> None:
        assert view_of(high_watermark=9).acks_all(10, 2) is AcksAll.WAITING
        assert view_of(high_watermark=10).acks_all(10, 2) is AcksAll.DONE

    def test_says_so_when_the_isr_shrank_after_the_append(self) -> None:
        view = view_of(isr=(1,), high_watermark=10)

        assert view.acks_all(10, 2) is AcksAll.NOT_ENOUGH_REPLICAS_AFTER_APPEND


class TestExpansion:
    def test_needs_the_high_watermark_and_the_start_of_the_epoch(self) -> None:
        view = view_of(isr=(1, 2), log_end_offset=10, high_watermark=8)
        fetch(view, 3, 9, 10)
        assert view.propose_expand(3) is None

        fetch(view, 3, 10, 10)
        assert view.propose_expand(3) is None, "the high watermark has not reached the epoch"

        fetch(view, 2, 10, 10)
        view.advance_high_watermark(10, 101.0, LAG)
        proposed = view.propose_expand(3)

        assert proposed is not None
        assert (proposed.isr, proposed.zk_version, proposed.leader_epoch) == ((1, 2, 3), 3, 5)

    def test_not_of_a_member_nor_a_stranger_nor_one_shutting_down(self) -> None:
        view = view_of(isr=(1, 2))
        for follower in (2, 3):
            fetch(view, follower, 10, 10)

        assert view.propose_expand(2) is None
        assert view.propose_expand(9) is None
        assert view.propose_expand(3, eligible=False) is None

    def test_one_change_at_a_time(self) -> None:
        view = view_of(isr=(1,))
        for follower in (2, 3):
            fetch(view, follower, 10, 10)

        assert view.propose_expand(2) is not None
        assert view.propose_expand(3) is None
        assert view.propose_shrink(10, 999.0, LAG) is None


class TestShrink:
    def test_removes_those_that_lag_too_long(self) -> None:
        view = view_of()
        fetch(view, 2, 10, 10, now=101.0)

        proposed = view.propose_shrink(10, 100.0 + LAG / 1000 + 0.5, LAG)

        assert proposed is not None
        assert proposed.isr == (1, 2)
        assert view.isr == view.maximal_isr == {1, 2, 3}

    def test_removes_nobody_in_time(self) -> None:
        assert view_of().propose_shrink(10, 130.0, LAG) is None

    def test_removes_a_member_that_the_assignment_no_longer_names(self) -> None:
        view = view_of(isr=(1, 2, 9))

        proposed = view.propose_shrink(10, 100.0, LAG)

        assert proposed is not None
        assert proposed.isr == (1, 2)


class TestOutcomes:
    @staticmethod
    def expanding() -> tuple[LeaderView, LeaderAndIsr]:
        view = view_of(isr=(1, 2))
        fetch(view, 3, 10, 10)
        proposed = view.propose_expand(3)
        assert proposed is not None
        return view, proposed

    def test_committed(self) -> None:
        view, proposed = self.expanding()

        view.isr_committed(replace(proposed, zk_version=4))

        assert view.isr == view.maximal_isr == {1, 2, 3}
        assert view.leader_and_isr.zk_version == 4

    def test_conflict_in_the_same_epoch_takes_up_the_znode(self) -> None:
        view, proposed = self.expanding()

        view.isr_conflict(replace(proposed, isr=(1,), zk_version=9))

        assert view.isr == view.maximal_isr == {1}
        assert view.leader_and_isr.zk_version == 9

    def test_conflict_with_a_newer_epoch_ends_all_proposals_and_keeps_the_union(self) -> None:
        view, proposed = self.expanding()

        view.isr_conflict(replace(proposed, leader=2, leader_epoch=6, isr=(2,), zk_version=4))

        assert view.is_superseded
        assert view.maximal_isr == {1, 2, 3}
        assert view.propose_shrink(10, 999.0, LAG) is None

    def test_unknown_keeps_the_union_until_a_newer_version_is_read(self) -> None:
        view, proposed = self.expanding()

        again = view.isr_read(replace(proposed, isr=(1, 2)))
        assert again == proposed
        assert view.maximal_isr == {1, 2, 3}

        assert view.isr_read(replace(proposed, zk_version=4)) is None
        assert view.isr == {1, 2, 3}

    def test_unknown_then_a_newer_epoch(self) -> None:
        view, proposed = self.expanding()

        assert view.isr_read(replace(proposed, leader_epoch=6, zk_version=5)) is None

        assert view.is_superseded

    def test_of_nothing_is_an_error(self) -> None:
        with pytest.raises(NoIsrChangeInFlight):
            view_of().isr_read(replace(view_of().leader_and_isr, zk_version=9))


def test_replicas_being_added_do_not_make_it_under_replicated() -> None:
    adding = ReplicaAssignment(replicas=(4, 1, 2, 3), adding_replicas=(4,), removing_replicas=(3,))

    assert not view_of(assignment=adding).is_under_replicated
    assert view_of(isr=(1, 2, 4), assignment=adding).is_under_replicated
