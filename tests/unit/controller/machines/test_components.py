"""All procedures share one memory and one set of state machines."""

from ballast.controller.machines.components import build_components
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.states import PartitionState
from ballast.model.ids import TopicPartition
from tests.fakes.controller_cluster import ControllerCluster


async def test_what_one_state_machine_changes_is_in_the_context_of_all() -> None:
    cluster = ControllerCluster()
    cluster.start_broker(1)
    cluster.add_topic("t", (1,))
    await cluster.fail_over()
    context = cluster.controller.context
    components = build_components(context, cluster.store, cluster.channels, ControllerOptions())
    partition = TopicPartition("t", 0)

    components.partitions.change([partition], PartitionState.OFFLINE)

    assert components.context is context
    assert context.partition_states[partition] is PartitionState.OFFLINE
    await components.partitions.elect_missing_leaders()
    assert context.partition_states[partition] is PartitionState.ONLINE
