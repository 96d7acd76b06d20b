"""Small worlds for tests of pure decisions: brokers 1 to 4, topic t."""

from collections.abc import Mapping
from dataclasses import replace

from ballast.model.assignments import ReplicaAssignment
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import DecisionInput, Observation, TransientState
from ballast.reassign.plan.plan import Plan
from ballast.reassign.plan.progress import Sizes
from ballast.reassign.ports import ClusterView, PartitionView
from ballast.reassign.spec.spec import (
    Approval,
    Assignments,
    DesiredState,
    Execution,
    ReassignmentSpec,
    Settings,
)
from ballast.reassign.state.persisted_state import Intent, PersistedState

T0, T1, T2 = (TopicPartition("t", p) for p in range(3))
TARGETS: Mapping[TopicPartition, tuple[int, ...]] = {T0: (1, 4), T1: (4, 2)}
ORIGINS: Mapping[TopicPartition, tuple[int, ...]] = {T0: (1, 2), T1: (3, 2)}
PLAN = Plan.of(TARGETS, ORIGINS)


def partition(
    tp: TopicPartition,
    *replicas: int,
    leader: int | None = None,
    isr: tuple[int, ...] | None = None,
) -> PartitionView:
    return PartitionView(
        topic_partition=tp,
        leader=replicas[0] if leader is None else leader,
        replicas=replicas,
        isr=replicas if isr is None else isr,
    )


def observation(
    *partitions: PartitionView,
    live: tuple[int, ...] = (1, 2, 3, 4),
    pending: Mapping[TopicPartition, ReplicaAssignment] | None = None,
    topic_configs: Mapping[str, Mapping[str, str]] | None = None,
    min_isr: int = 1,
    broker_configs: Mapping[int, Mapping[str, str]] | None = None,
    sizes: Sizes | None = None,
) -> Observation:
    shown = partitions or tuple(partition(tp, *ORIGINS[tp]) for tp in ORIGINS)
    return Observation(
        cluster=ClusterView(
            cluster_id="c",
            controller_id=1,
            brokers=tuple(
                RegisteredBroker(broker_id=b, endpoints=(Endpoint(host="h", port=b),)) for b in live
            ),
            partitions={view.topic_partition: view for view in shown},
        ),
        pending=pending or {},
        topic_configs={"t": {}} if topic_configs is None else topic_configs,
        min_isr_by_topic={"t": min_isr},
        broker_configs={b: {} for b in live} if broker_configs is None else broker_configs,
        sizes=sizes or {},
    )


def spec(
    state: DesiredState = DesiredState.RUNNING,
    *,
    rate: int | None = None,
    approval: Approval | None = None,
    execution: Execution | None = None,
    targets: Mapping[TopicPartition, tuple[int, ...]] = TARGETS,
) -> ReassignmentSpec:
    return ReassignmentSpec(
        name="move",
        generation=1,
        assignments=Assignments(
            targets=targets,
            paths={tp: f"spec.plan.assignments[{i}]" for i, tp in enumerate(targets)},
        ),
        settings=Settings(
            desired_state=state,
            approval=approval or Approval(),
            execution=replace(execution or Execution(), throttle_bytes_per_second=rate),
        ),
    )


def persisted_state(intent: Intent = Intent.EXECUTE, *, started: bool = True) -> PersistedState:
    return PersistedState(
        name="move", plan=PLAN, start_time_ms=1_700_000_000_000 if started else None, intent=intent
    )


def decision_input(
    seen: Observation | None = None,
    *,
    wanted: ReassignmentSpec | None = None,
    state: PersistedState | None = None,
    transient: TransientState | None = None,
) -> DecisionInput:
    return DecisionInput(
        spec=wanted or spec(),
        state=state,
        observation=seen or observation(),
        transient=transient or TransientState(),
        now_ms=1_700_000_100_000,
    )
