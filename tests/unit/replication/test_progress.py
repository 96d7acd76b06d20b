from ballast.replication.progress import NEVER, UNKNOWN_OFFSET, FollowerProgress

LAG_TIME_MAX_MS = 30_000


def test_a_new_leader_takes_isr_members_as_in_sync_and_their_end_as_unknown() -> None:
    progress = FollowerProgress.at_epoch_start(in_sync=True, now=7.0)

    assert progress.last_caught_up_time == 7.0
    assert progress.log_end_offset == UNKNOWN_OFFSET


def test_a_new_leader_takes_others_as_never_caught_up_even_at_time_zero() -> None:
    progress = FollowerProgress.at_epoch_start(in_sync=False, now=0.0)

    assert progress.last_caught_up_time == NEVER
    assert not progress.was_caught_up_within(LAG_TIME_MAX_MS, 0.0)


def test_caught_up_now_when_asking_for_what_the_leader_lacks() -> None:
    progress = FollowerProgress().after_fetch(10, 0, 3.0, leader_log_end_offset=10)

    assert progress.last_caught_up_time == 3.0
    assert (progress.log_end_offset, progress.log_start_offset) == (10, 0)


def test_caught_up_at_the_previous_fetch_when_it_now_has_what_the_leader_had_then() -> None:
    progress = FollowerProgress().after_fetch(5, 0, 1.0, leader_log_end_offset=10)
    assert progress.last_caught_up_time == NEVER

    progress = progress.after_fetch(10, 0, 2.0, leader_log_end_offset=20)

    assert progress.last_caught_up_time == 1.0


def test_out_of_sync_only_when_both_behind_and_late() -> None:
    behind = FollowerProgress(log_end_offset=9, last_caught_up_time=0.0)

    assert not behind.is_out_of_sync(10, LAG_TIME_MAX_MS, now=30.0)
    assert behind.is_out_of_sync(10, LAG_TIME_MAX_MS, now=30.001)
    assert not behind.is_out_of_sync(9, LAG_TIME_MAX_MS, now=99.0)
