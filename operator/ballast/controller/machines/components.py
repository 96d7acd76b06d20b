"""What every procedure of the controller works with, built once per controller."""

from dataclasses import dataclass

from ballast.controller.machines.leader_and_isr_updater import LeaderAndIsrUpdater
from ballast.controller.machines.partition_states import PartitionStateMachine
from ballast.controller.machines.replica_states import ReplicaStateMachine
from ballast.controller.machines.topic_deletion import TopicDeletionManager
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.ports import BrokerChannels, MetadataStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Memory, ports and state machines of one controller; all procedures share the same ones."""

    context: ControllerContext
    store: MetadataStore
    channels: BrokerChannels
    options: ControllerOptions
    leader_and_isr: LeaderAndIsrUpdater
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    deletion: TopicDeletionManager


def build_components(
    context: ControllerContext,
    store: MetadataStore,
    channels: BrokerChannels,
    options: ControllerOptions,
) -> Components:
    """Build the state machines over the context and the ports."""
    leader_and_isr = LeaderAndIsrUpdater(context, store)
    partitions = PartitionStateMachine(context, store, channels, leader_and_isr, options)
    replicas = ReplicaStateMachine(context, channels, leader_and_isr)
    return Components(
        context=context,
        store=store,
        channels=channels,
        options=options,
        leader_and_isr=leader_and_isr,
        partitions=partitions,
        replicas=replicas,
        deletion=TopicDeletionManager(context, store, channels, partitions, replicas, options),
    )
