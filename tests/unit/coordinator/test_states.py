import itertools

import pytest

from ballast.coordinator.errors import IllegalTransition
from ballast.coordinator.states import GroupState, check_transition

S = GroupState
LEGAL = {
    (S.EMPTY, S.PREPARING_REBALANCE),
    (S.STABLE, S.PREPARING_REBALANCE),
    (S.COMPLETING_REBALANCE, S.PREPARING_REBALANCE),
    (S.PREPARING_REBALANCE, S.COMPLETING_REBALANCE),
    (S.PREPARING_REBALANCE, S.EMPTY),
    (S.COMPLETING_REBALANCE, S.STABLE),
    *((state, S.DEAD) for state in S),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(S, S)))
def test_what_may_follow_what(before: GroupState, after: GroupState) -> None:
    if (before, after) in LEGAL:
        check_transition("g", before, after)
        return
    with pytest.raises(IllegalTransition, match=f"g cannot go from {before} to {after}"):
        check_transition("g", before, after)


def test_the_names_are_kafkas() -> None:
    assert [str(state) for state in S] == [
        "Empty",
        "PreparingRebalance",
        "CompletingRebalance",
        "Stable",
        "Dead",
    ]
