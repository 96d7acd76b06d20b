"""Plans that name log directories, from the first visit to the last."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from ballast.model.ids import TopicPartition
from ballast.reassign.plan.lines import LogDirMove, LogDirMoves
from ballast.reassign.ports import RequestError
from ballast.reassign.spec.spec import Assignments, DesiredState, ReassignmentSpec
from ballast.reassign.state.conditions import ConditionType, LifecycleState
from ballast.reassign.throttle.throttle_values import FOLLOWER_RATE, LOG_DIRS_RATE
from tests.fakes.crash_point import CrashPoint
from tests.unit.reassign.scenario import ORIGINS, T0, T1, Scenario, always, cluster, spec, visits

TARGETS = {T0: (1, 2, 3), T1: (2, 3, 4)}
"""Only T1 gets a replica on another broker: on 4, instead of 1."""
NAMED: Mapping[TopicPartition, LogDirMoves] = {
    T0: (LogDirMove(1, None, "/data2"), LogDirMove(2, None, "/data")),
    T1: (LogDirMove(2, None, "/data3"), LogDirMove(4, None, "/data2")),
}
PLACES = {(T0, 1): "/data2", (T1, 2): "/data3", (T1, 4): "/data2"}


def naming(
    state: DesiredState = DesiredState.RUNNING,
    *,
    log_dirs: Mapping[TopicPartition, LogDirMoves] = NAMED,
    rate: int | None = 2000,
) -> ReassignmentSpec:
    generation = 1 if state is DesiredState.RUNNING else 2
    return replace(
        spec(state, rate=rate, generation=generation),
        assignments=Assignments(targets=TARGETS, log_dirs=log_dirs),
    )


def finishing(scenario: Scenario) -> None:
    """Let copies end a while after they have begun."""
    if scenario.clock.seconds % 5 > 3:
        scenario.admin.finish_log_dir_moves()


def made(
    script: Callable[[Scenario], ReassignmentSpec], crash_point: CrashPoint | None = None
) -> Scenario:
    return Scenario(cluster(), script, crash_point=crash_point or CrashPoint(), events=finishing)


def lies(scenario: Scenario) -> dict[tuple[TopicPartition, int], str | None]:
    """Return where replicas are that are not in /data."""
    brokers = {tp: p.sizes for tp, p in scenario.cluster.partitions.items()}
    found = {
        (tp, broker): scenario.admin.log_dir_of(tp, broker)
        for tp in brokers
        for broker in brokers[tp]
    }
    return {replica: path for replica, path in found.items() if path != "/data"}


def test_replicas_go_to_the_directories_that_are_named() -> None:
    scenario = made(always(naming()))
    before = scenario.cluster.configs()
    status = scenario.run()
    assert status.state is LifecycleState.COMPLETED
    assert lies(scenario) == PLACES
    assert scenario.cluster.replicas()[T1] == (2, 3, 4)
    assert scenario.cluster.configs() == before
    assert status.plan is not None
    assert (status.plan.replica_moves, status.plan.log_dir_moves) == (1, 2)
    assert status.progress is not None
    assert status.progress.bytes_remaining == 0


def test_copies_inside_of_brokers_are_throttled() -> None:
    scenario = made(always(naming(log_dirs={T0: NAMED[T0]})))
    asyncio.run(visits(scenario, 5))
    assert scenario.cluster.broker_configs[1] == {
        FOLLOWER_RATE: "2000",
        "leader.replication.throttled.rate": "2000",
        LOG_DIRS_RATE: "2000",
    }
    assert LOG_DIRS_RATE not in scenario.cluster.broker_configs[3]


def test_a_replica_that_comes_is_made_in_its_directory() -> None:
    scenario = made(always(naming(log_dirs={T1: (LogDirMove(4, None, "/data2"),)})))
    assert scenario.run().state is LifecycleState.COMPLETED
    assert lies(scenario) == {(T1, 4): "/data2"}
    assert (T1, 4) not in scenario.admin.log_dirs, "it was not copied from one to the other"


def once_begun(state: DesiredState) -> Callable[[Scenario], ReassignmentSpec]:
    def script(scenario: Scenario) -> ReassignmentSpec:
        document = scenario.store.document
        intent = None if document is None else document["intent"]
        if scenario.admin.future_log_dirs or intent not in (None, "Execute"):
            return naming(state)
        return naming()

    return script


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (DesiredState.CANCELLED, LifecycleState.CANCELLED),
        (DesiredState.ROLLED_BACK, LifecycleState.ROLLED_BACK),
    ],
)
def test_what_is_under_way_is_taken_back(state: DesiredState, outcome: LifecycleState) -> None:
    scenario = made(once_begun(state))
    assert scenario.run().state is outcome
    assert scenario.admin.future_log_dirs == {}
    assert lies(scenario) == {}
    assert scenario.cluster.replicas()[T1] == ORIGINS[T1]


def test_after_its_end_a_plan_is_rolled_back_into_the_old_directories() -> None:
    scenario = made(always(naming()))
    scenario.run()
    scenario.script = always(naming(DesiredState.ROLLED_BACK))
    assert scenario.run().state is LifecycleState.ROLLED_BACK
    assert lies(scenario) == {}
    assert scenario.cluster.replicas()[T1] == ORIGINS[T1]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "script",
    [always(naming()), once_begun(DesiredState.ROLLED_BACK)],
    ids=["executed", "rolled back"],
)
def test_killed_at_any_effect_it_comes_to_the_same_end(
    script: Callable[[Scenario], ReassignmentSpec], after: bool
) -> None:
    reference = made(script)
    outcome = reference.run().state
    for at in range(1, len(reference.crash_point.effects) + 1):
        scenario = made(script, CrashPoint(at=at, after=after))
        before = scenario.cluster.configs()
        assert scenario.run().state is outcome, at
        assert lies(scenario) == lies(reference), at
        assert scenario.cluster.replicas() == reference.cluster.replicas(), at
        assert scenario.cluster.configs() == before, at


def test_a_directory_that_the_broker_has_not_is_refused_before_anything_is_touched() -> None:
    wrong = {T0: (LogDirMove(1, None, "/etc"),)}
    scenario = made(always(naming(log_dirs=wrong)))
    status = scenario.run()
    assert status.state is LifecycleState.INVALID
    accepted = status.conditions[ConditionType.ACCEPTED]
    assert accepted.reason == "UnknownLogDir"
    assert "broker 1 has no log directory /etc" in accepted.message
    assert [effect for effect in scenario.crash_point.effects if effect != "save"] == []


def test_a_directory_that_is_refused_for_good_fails_the_move_and_nothing_else() -> None:
    scenario = made(always(naming(rate=None)))
    scenario.admin.log_dir_refusals[T0, 1] = RequestError(
        error="KAFKA_STORAGE_ERROR", message="offline"
    )
    status = scenario.run()
    assert status.state is LifecycleState.FAILED
    assert [(f.topic, f.partition, f.reason) for f in status.failures] == [
        ("t", 0, "KAFKA_STORAGE_ERROR")
    ]
    assert lies(scenario) == {place: path for place, path in PLACES.items() if place[0] == T1}


def test_a_broker_that_is_down_holds_up_its_own_replicas_only() -> None:
    scenario = made(always(naming(log_dirs={T0: NAMED[T0]}, rate=None)))
    scenario.cluster.stop(1)
    asyncio.run(visits(scenario, 20))
    last = scenario.statuses[-1]
    assert last.state is LifecycleState.EXECUTING
    assert [(f.partition, f.reason) for f in last.failures] == [(0, "TargetBrokerOffline")]
    assert scenario.cluster.replicas()[T1] == (2, 3, 4)
    scenario.cluster.start(1)
    assert scenario.run().state is LifecycleState.COMPLETED
    assert lies(scenario) == {(T0, 1): "/data2"}
