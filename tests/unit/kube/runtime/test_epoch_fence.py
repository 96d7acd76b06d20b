import logging

import pytest

from ballast.kube.api.resources import ObjectKey
from ballast.kube.runtime.epoch_fence import FENCE_S, EpochFence
from tests.fakes.cluster_admin import FakeClock

KEY = ObjectKey("partitionreassignments", "a", "move")


@pytest.mark.parametrize(
    ("written", "known", "is_blocked"),
    [(7, 6, True), (7, 7, False), (6, 7, False), (None, 7, False), (7, None, False)],
)
def test_a_later_epoch_blocks_an_earlier_one(
    written: int | None, known: int | None, is_blocked: bool
) -> None:
    assert EpochFence(KEY, FakeClock()).blocks(written, known) is is_blocked


def test_an_object_that_nobody_writes_is_taken_over(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    fence = EpochFence(KEY, clock)
    with caplog.at_level(logging.WARNING):
        for _ in range(int(FENCE_S)):
            assert fence.blocks(7, 6)
            clock.seconds += 1.0
        assert not fence.blocks(7, 6)
    assert len(caplog.records) == 1, "said once"


def test_the_time_of_the_fence_begins_again_after_the_epochs_agreed() -> None:
    clock = FakeClock()
    fence = EpochFence(KEY, clock)
    assert fence.blocks(7, 6)
    clock.seconds += FENCE_S
    assert not fence.blocks(7, 7)
    assert fence.blocks(8, 7)
