"""The controller's channels in memory: one list of requests per broker, in the order queued."""

from ballast.controller.state.control_requests import (
    ControlRequest,
    LeaderAndIsrControlRequest,
    StopReplicaControlRequest,
    UpdateMetadataControlRequest,
)
from ballast.model.brokers import RegisteredBroker
from tests.fakes.metadata_store import Effects


class FakeBrokerChannels:
    """A `BrokerChannels` that keeps everything until a test takes it."""

    def __init__(self, effects: Effects) -> None:
        self.queues: dict[int, list[ControlRequest]] = {}
        """What waits for each broker that has a queue."""
        self._effects = effects

    def add_broker(self, broker: RegisteredBroker) -> None:
        assert broker.broker_id not in self.queues, "a broker has one queue"
        self.queues[broker.broker_id] = []

    def remove_broker(self, broker_id: int) -> None:
        del self.queues[broker_id]

    def send(self, broker_id: int, request: ControlRequest) -> None:
        if broker_id in self.queues:
            self.queues[broker_id].append(request)
        self._effects.happen()

    def take(self, broker_id: int) -> list[ControlRequest]:
        """Return and remove what waits for a broker."""
        taken = self.queues.get(broker_id, [])
        self.queues[broker_id] = []
        return taken

    def take_all(self) -> dict[int, list[ControlRequest]]:
        """Return and remove what waits for each broker."""
        return {broker_id: self.take(broker_id) for broker_id in sorted(self.queues)}


def describe_control_request(request: ControlRequest) -> str:
    """Return what a request says, in the words of the goldens; entries are in partition order."""
    match request:
        case LeaderAndIsrControlRequest():
            return "LeaderAndIsr " + "; ".join(
                f"{entry.topic_partition} leader={entry.leader_and_isr.leader} "
                f"epoch={entry.leader_and_isr.leader_epoch} isr={[*entry.leader_and_isr.isr]} "
                f"replicas={[*entry.replicas]} adding={[*entry.adding_replicas]} "
                f"removing={[*entry.removing_replicas]}" + (" new" if entry.is_new else "")
                for entry in sorted(request.entries, key=lambda e: e.topic_partition)
            )
        case UpdateMetadataControlRequest():
            live = sorted(broker.broker_id for broker in request.live_brokers)
            return f"UpdateMetadata live={live}" + "".join(
                f"; {entry.topic_partition} leader={entry.leader_and_isr.leader} "
                f"epoch={entry.leader_and_isr.leader_epoch} isr={[*entry.leader_and_isr.isr]} "
                f"replicas={[*entry.replicas]} offline={[*entry.offline_replicas]}"
                for entry in sorted(request.entries, key=lambda e: e.topic_partition)
            )
        case StopReplicaControlRequest():
            return "StopReplica " + "; ".join(
                f"{entry.topic_partition} epoch={entry.leader_epoch}"
                + (" delete" if entry.delete else "")
                for entry in sorted(request.entries, key=lambda e: e.topic_partition)
            )
