"""Every pair of partition states: the legal steps are taken, the others refused without effect."""

from itertools import product

import pytest

from ballast.controller.errors import IllegalTransition
from ballast.controller.machines.elections import ElectionStrategy
from ballast.controller.state.states import PartitionState
from ballast.model.ids import TopicPartition
from tests.unit.controller.machines.test_partition_states import Harness, start

T0 = TopicPartition("t", 0)
P = PartitionState
LEGAL = {
    (P.NON_EXISTENT, P.NEW),
    (P.NEW, P.ONLINE),
    (P.ONLINE, P.ONLINE),
    (P.OFFLINE, P.ONLINE),
    (P.NEW, P.OFFLINE),
    (P.ONLINE, P.OFFLINE),
    (P.OFFLINE, P.OFFLINE),
    (P.OFFLINE, P.NON_EXISTENT),
}


async def step(harness: Harness, target: PartitionState) -> None:
    if target is P.ONLINE:
        await harness.machine.elect([T0], ElectionStrategy.OFFLINE)
    else:
        harness.machine.change([T0], target)


@pytest.mark.parametrize(("before", "target"), list(product(P, P)), ids=lambda state: state.name)
async def test_step(before: PartitionState, target: PartitionState) -> None:
    harness = await start((1, 2))
    harness.controller.context.set_partition_state(T0, before)
    if before in (P.NON_EXISTENT, P.NEW):
        del harness.controller.context.leadership[T0]
        del harness.metadata.states[T0]
    if (before, target) in LEGAL:
        await step(harness, target)
        assert harness.partition_state(T0) is target
    else:
        with pytest.raises(IllegalTransition, match=f"t-0 is {before} and cannot become {target}"):
            await step(harness, target)
        assert harness.partition_state(T0) is before
        assert harness.metadata.log == []
    # Who leads and who is told changes with an election only.
    assert any(harness.channels.take_all().values()) is (
        target is P.ONLINE and (before, target) in LEGAL
    )
