"""Every pair of replica states: the legal steps are taken, the others refused without effect."""

from itertools import product

import pytest

from ballast.controller.errors import IllegalTransition
from ballast.controller.state.states import Replica, ReplicaState
from ballast.model.ids import TopicPartition
from tests.unit.controller.machines.test_replica_states import Harness, start

R = ReplicaState
REPLICA = Replica(TopicPartition("t", 0), 3)
LEGAL = {
    (R.NON_EXISTENT, R.NEW),
    (R.NEW, R.ONLINE),
    (R.ONLINE, R.ONLINE),
    (R.OFFLINE, R.ONLINE),
    (R.DELETION_INELIGIBLE, R.ONLINE),
    (R.NEW, R.OFFLINE),
    (R.ONLINE, R.OFFLINE),
    (R.OFFLINE, R.OFFLINE),
    (R.DELETION_INELIGIBLE, R.OFFLINE),
    (R.OFFLINE, R.DELETION_STARTED),
    (R.DELETION_STARTED, R.DELETION_SUCCESSFUL),
    (R.DELETION_STARTED, R.DELETION_INELIGIBLE),
    (R.OFFLINE, R.DELETION_INELIGIBLE),
    (R.DELETION_SUCCESSFUL, R.NON_EXISTENT),
}
TOLD = {
    R.NEW: "LeaderAndIsr",
    R.ONLINE: "LeaderAndIsr",
    R.OFFLINE: "StopReplica",
    R.DELETION_STARTED: "StopReplica",
}
"""The first thing that the replica's own broker is told in each step; nothing in the others."""


async def step(harness: Harness, target: ReplicaState) -> None:
    match target:
        case R.NEW:
            harness.machine.start_new([REPLICA])
        case R.ONLINE:
            harness.machine.bring_online([REPLICA])
        case R.OFFLINE:
            await harness.machine.take_offline([REPLICA])
        case R.DELETION_STARTED:
            harness.machine.start_deletion([REPLICA])
        case R.DELETION_SUCCESSFUL:
            harness.machine.finish_deletion([REPLICA])
        case R.DELETION_INELIGIBLE:
            harness.machine.fail_deletion([REPLICA])
        case R.NON_EXISTENT:
            harness.machine.forget([REPLICA])


@pytest.mark.parametrize(("before", "target"), list(product(R, R)), ids=lambda state: state.name)
async def test_step(before: ReplicaState, target: ReplicaState) -> None:
    harness = await start((1, 2))
    harness.controller.context.set_replica_state(REPLICA, before)
    if (before, target) not in LEGAL:
        with pytest.raises(IllegalTransition, match=f"t-0 on 3 is {before} and cannot become"):
            await step(harness, target)
        assert harness.replica_state(REPLICA) is before
        assert harness.metadata.log == []
        assert not any(harness.channels.take_all().values())
        return
    await step(harness, target)
    assert harness.replica_state(REPLICA) is target
    # A new replica has been told when it was made.
    expected = None if before is R.NEW and target is R.ONLINE else TOLD.get(target)
    told = [line.split()[0] for line in harness.sent(REPLICA.broker_id)]
    assert told[:1] == ([] if expected is None else [expected])
