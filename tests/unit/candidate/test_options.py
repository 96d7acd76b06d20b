"""A candidate's options hang together."""

from ballast.candidate.options import CandidateOptions


def test_one_full_broker_queue_cannot_fill_the_event_queue() -> None:
    options = CandidateOptions()

    assert options.channels.max_queued < options.max_queued // 2
    assert options.max_waiting < options.max_queued
