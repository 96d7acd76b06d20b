"""Elections, with the goldens of Kafka's PartitionLeaderElectionAlgorithmsTest: RS [2, 4]."""

import pytest

from ballast.controller.machines.elections import (
    ElectionResult,
    elect_for_controlled_shutdown,
    elect_offline,
    elect_preferred,
    elect_reassigned,
)

RS = (2, 4)


def elected(leader: int, *isr: int) -> ElectionResult:
    return ElectionResult(leader=leader, isr=isr)


@pytest.mark.parametrize(
    ("isr", "live", "unclean", "outcome"),
    [
        pytest.param((2, 4), {4}, False, elected(4, 4), id="first live in sync"),
        pytest.param((2,), {4}, False, None, id="live but not in sync"),
        pytest.param((2,), {4}, True, elected(4, 4), id="live, not in sync, unclean"),
        pytest.param((4, 2), {2, 4}, True, elected(2, 4, 2), id="unclean prefers in sync"),
        pytest.param((2,), set(), True, None, id="nobody lives"),
    ],
)
def test_offline(
    isr: tuple[int, ...], live: set[int], unclean: bool, outcome: ElectionResult
) -> None:
    assert elect_offline(RS, isr, live, unclean=unclean) == outcome


@pytest.mark.parametrize(
    ("isr", "live", "outcome"),
    [
        pytest.param((2, 4), {4}, elected(4, 2, 4), id="first live in sync, ISR unchanged"),
        pytest.param((2,), set(), None, id="in sync but dead"),
        pytest.param((), {2}, None, id="live but not in sync"),
    ],
)
def test_reassigned(isr: tuple[int, ...], live: set[int], outcome: ElectionResult | None) -> None:
    assert elect_reassigned(RS, isr, live) == outcome


@pytest.mark.parametrize(
    ("isr", "live", "outcome"),
    [
        pytest.param((2, 4), {2, 4}, elected(2, 2, 4), id="first of RS"),
        pytest.param((2,), set(), None, id="dead"),
        pytest.param((4,), {2, 4}, None, id="not in sync"),
    ],
)
def test_preferred(isr: tuple[int, ...], live: set[int], outcome: ElectionResult | None) -> None:
    assert elect_preferred(RS, isr, live) == outcome


@pytest.mark.parametrize(
    ("isr", "shutting_down", "outcome"),
    [
        pytest.param((2, 4), {2}, elected(4, 4), id="other member"),
        pytest.param((2,), {2}, None, id="only member"),
        pytest.param((2, 4), {2, 4}, None, id="all leave"),
    ],
)
def test_controlled_shutdown(
    isr: tuple[int, ...], shutting_down: set[int], outcome: ElectionResult | None
) -> None:
    assert elect_for_controlled_shutdown(RS, isr, {2, 4}, shutting_down) == outcome
