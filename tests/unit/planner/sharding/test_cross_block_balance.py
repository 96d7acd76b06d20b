from collections.abc import Sequence

import numpy as np
import pytest

from ballast.planner.sharding.block_quotas import BlockQuota
from ballast.planner.sharding.cross_block_balance import (
    COPIES_MAX,
    PlacedBytes,
    redistribute_excess_bytes,
)

MUCH = 10**9


def quotas(*byte_targets: Sequence[float] | None) -> list[BlockQuota]:
    return [
        BlockQuota(
            target=np.array([4, 4, 4]),
            byte_target=None if targets is None else np.array(targets, np.float64),
            max_replica_moves=None,
            max_bytes_to_move=None,
        )
        for targets in byte_targets
    ]


def placed(held: Sequence[int], copied: int = MUCH) -> PlacedBytes:
    return PlacedBytes(broker_bytes=np.array(held), copied_bytes=copied)


def shares(asked: list[BlockQuota], found: Sequence[PlacedBytes]) -> list[list[float]]:
    again = redistribute_excess_bytes(asked, found)
    assert again is not None
    assert [one.target.tolist() for one in again] == [one.target.tolist() for one in asked]
    return [one.byte_target.tolist() for one in again if one.byte_target is not None]


def test_what_one_broker_has_too_much_the_others_get() -> None:
    """From each block as much as is in it, and there as much comes as goes."""
    found = [placed([240, 50, 100]), placed([80, 90, 40])]
    assert shares(quotas([100, 100, 100], [100, 100, 100]), found) == [
        [150, 95, 145],
        [50, 105, 55],
    ]


def test_who_lacks_more_gets_no_more_than_there_is() -> None:
    (own,) = shares(quotas([100, 200, 200]), [placed([200, 100, 100])])
    assert own == [100, 150, 150]


@pytest.mark.parametrize("most", [109, 110])
def test_a_tenth_too_much_is_let_be(most: int) -> None:
    asked = quotas([100, 100, 100])
    assert redistribute_excess_bytes(asked, [placed([most, 110, 300 - 110 - most])]) is None
    assert redistribute_excess_bytes(asked, [placed([most, 111, 300 - 111 - most])]) is not None


def test_beyond_what_it_may_cost_the_fullest_give_first() -> None:
    asked, found = quotas([100, 100, 100]), [placed([160, 120, 20], copied=int(45 / COPIES_MAX))]
    (own,) = shares(asked, found)
    assert own == pytest.approx([117.5, 117.5, 65])
    (own,) = shares(asked, [placed([160, 120, 20], copied=int(30 / COPIES_MAX))])
    assert own == pytest.approx([130, 120, 50])


def test_nothing_is_done_where_nothing_may_be_changed() -> None:
    asked, found = quotas([100, 100, 100], [100, 100, 100]), placed([300, 0, 0])
    assert redistribute_excess_bytes(asked, [found, None]) is None
    assert redistribute_excess_bytes(quotas([100, 100, 100], None), [found, found]) is None
    assert (
        redistribute_excess_bytes(asked, [placed([300, 0, 0], 0), placed([300, 0, 0], 0)]) is None
    )
    assert redistribute_excess_bytes(quotas([0, 300, 300]), [placed([0, 300, 300])]) is None
