"""What of the workload needs no cluster; the rest is held to a real one by the demo's test."""

import threading

import pytest

from ballast.cli.embedded.errors import WorkloadFailed
from ballast.cli.embedded.workload import Workload

NOBODY = "127.0.0.1:1"


def test_what_is_abandoned_fails_soon() -> None:
    """It would wait for acknowledgements for a minute."""
    workload = Workload(NOBODY, "t", 3, record_bytes=100)
    failures: list[WorkloadFailed] = []

    def preload() -> None:
        try:
            workload.preload(1000)
        except WorkloadFailed as failure:
            failures.append(failure)

    thread = threading.Thread(target=preload)
    thread.start()
    while workload.written < 10:
        thread.join(0.01)
    workload.abandon()
    thread.join(20)
    assert not thread.is_alive()
    assert [str(failure) for failure in failures] != []
    assert (workload.written, workload.acknowledged) == (10, 0)


def test_what_was_abandoned_writes_no_more() -> None:
    workload = Workload(NOBODY, "t", 3)
    workload.abandon()
    workload.preload(1_000_000)
    assert workload.written == 0


def test_it_can_be_stopped_before_anything_is_written() -> None:
    workload = Workload(NOBODY, "t", 3)
    workload.abandon()
    workload.start(records_per_second=1000)
    workload.stop()
    assert (workload.written, workload.consumed) == (0, 0)


def test_a_topic_that_cannot_be_read_is_no_success() -> None:
    with pytest.raises(WorkloadFailed, match="partition 0 has no end offset"):
        Workload(NOBODY, "t", 1).verify(silence_max_s=0.2)
