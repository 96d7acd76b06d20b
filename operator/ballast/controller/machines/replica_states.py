"""The replica state machine: starts, stops and deletes replicas (the table is in `states`)."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from ballast.controller.errors import IllegalTransition, StateChangeFailed
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.machines.leader_and_isr_updater import Decision, LeaderAndIsrUpdater
from ballast.controller.state.context import ControllerContext, by_broker
from ballast.controller.state.ports import BrokerChannels
from ballast.controller.state.states import VALID_PREVIOUS_REPLICA_STATES, Replica, ReplicaState
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr

Required = Mapping[TopicPartition, tuple[int, ...]]
_NOTHING_REQUIRED: Required = {}


class ReplicaStateMachine:
    """Moves replicas between states; each call sends one batch of control requests.

    Every method first checks all its replicas against the table: one illegal transition raises
    `IllegalTransition` and nothing is changed. A replica that fails for another reason keeps its
    state and is left out of the return value.
    """

    def __init__(
        self,
        context: ControllerContext,
        channels: BrokerChannels,
        leader_and_isr: LeaderAndIsrUpdater,
    ) -> None:
        self._context = context
        self._channels = channels
        self._leader_and_isr = leader_and_isr

    async def startup(self) -> None:
        """Derive the states from the live brokers, and send LeaderAndIsr to live replicas."""
        context = self._context
        batch = self._batch()
        offline: list[Replica] = []
        for broker_id, partitions in context.partitions_by_broker(context.partitions()).items():
            online = context.online_on(broker_id, partitions)
            context.set_states_on(broker_id, online, ReplicaState.ONLINE)
            batch.add_partitions_of(broker_id, self._served(online))
            if len(online) < len(partitions):
                lost = {*partitions}.difference(online)
                context.set_states_on(broker_id, lost, ReplicaState.DELETION_INELIGIBLE)
                offline += [Replica(tp, broker_id) for tp in lost]
        batch.send()
        await self.take_offline(offline)

    def start_new(self, replicas: Collection[Replica]) -> None:
        """To NewReplica: send LeaderAndIsr where the partition has a leader."""
        self._checked(replicas, ReplicaState.NEW)
        batch = self._batch()
        started = []
        for replica in sorted(replicas):
            leadership = self._context.leadership.get(replica.topic_partition)
            if leadership is not None and leadership.leader == replica.broker_id:
                self._context.failures.append(
                    StateChangeFailed(f"{replica} cannot be new: it leads the partition")
                )
                continue
            if leadership is not None:
                batch.add_leader_and_isr([replica.broker_id], replica.topic_partition, is_new=True)
            started.append(replica)
        self._context.set_replica_states(started, ReplicaState.NEW)
        batch.send()

    def bring_online(self, replicas: Collection[Replica]) -> None:
        """To OnlineReplica: send LeaderAndIsr, except to new replicas, which have it already.

        Nothing is sent for a topic that is to be deleted, unless a reassignment delays that
        (KAFKA-13342).
        """
        context = self._context
        batch = self._batch()
        for broker_id, partitions in self._checked(replicas, ReplicaState.ONLINE).items():
            state_of = context.states_on(broker_id).get
            unsent = [tp for tp in partitions if state_of(tp) is not ReplicaState.NEW]
            batch.add_partitions_of(broker_id, self._served(unsent))
            context.set_states_on(broker_id, partitions, ReplicaState.ONLINE)
        batch.send()

    async def take_offline(
        self,
        replicas: Collection[Replica],
        *,
        while_in_sync: Required = _NOTHING_REQUIRED,
        just_elected: Set[TopicPartition] = frozenset(),
    ) -> set[Replica]:
        """To OfflineReplica: stop replicas, take them out of the ISR; return the successful ones.

        The ISR keeps its last member. Where the leader goes offline, the partition has none. The
        replicas of one broker are written together, brokers one after the other. A partition in
        ``while_in_sync`` fails unless those brokers are in the ISR when the state is written.
        The states of ``just_elected`` were written just before for the same reason: where the
        replica has left the ISR by that, the state is not read again.
        """
        by_broker = self._checked(replicas, ReplicaState.OFFLINE)
        batch = self._batch()
        done: set[Replica] = set()
        for broker_id in sorted(by_broker):
            decide = _without(broker_id, while_in_sync)
            partitions = sorted(by_broker[broker_id])
            done |= await self._take_broker_offline(
                broker_id, partitions, decide, just_elected, batch
            )
        batch.send()
        return done

    def start_deletion(self, replicas: Collection[Replica]) -> None:
        """To ReplicaDeletionStarted: send StopReplica with delete."""
        self._checked(replicas, ReplicaState.DELETION_STARTED)
        batch = self._batch()
        for replica in sorted(replicas):
            batch.add_stop_replica(replica, delete=True)
            self._context.set_replica_state(replica, ReplicaState.DELETION_STARTED)
        batch.send()

    def finish_deletion(self, replicas: Collection[Replica]) -> None:
        """To ReplicaDeletionSuccessful."""
        self._set(replicas, ReplicaState.DELETION_SUCCESSFUL)

    def fail_deletion(self, replicas: Collection[Replica]) -> None:
        """To ReplicaDeletionIneligible."""
        self._set(replicas, ReplicaState.DELETION_INELIGIBLE)

    def forget(self, replicas: Collection[Replica]) -> None:
        """To NonExistentReplica."""
        self._set(replicas, ReplicaState.NON_EXISTENT)

    def _batch(self) -> ControlRequestBatch:
        return ControlRequestBatch(self._context, self._channels)

    def _served(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Return those of the partitions that are led and not being deleted."""
        led, deleted = self._context.leadership, self._context.being_deleted
        if not deleted:
            return [tp for tp in partitions if tp in led]
        return [tp for tp in partitions if tp in led and tp.topic not in deleted]

    def _checked(
        self, replicas: Iterable[Replica], target: ReplicaState
    ) -> Mapping[int, Sequence[TopicPartition]]:
        """Return the partitions by broker after all were checked against the table."""
        allowed = VALID_PREVIOUS_REPLICA_STATES[target]
        grouped = by_broker(replicas)
        for broker_id, partitions in grouped.items():
            state_of = self._context.states_on(broker_id).get
            for topic_partition in partitions:
                state = state_of(topic_partition, ReplicaState.NON_EXISTENT)
                if state not in allowed:
                    replica = Replica(topic_partition, broker_id)
                    raise IllegalTransition(f"{replica} is {state} and cannot become {target}")
        return grouped

    def _set(self, replicas: Collection[Replica], target: ReplicaState) -> None:
        for broker_id, partitions in self._checked(replicas, target).items():
            self._context.set_states_on(broker_id, partitions, target)

    async def _take_broker_offline(
        self,
        broker_id: int,
        partitions: Collection[TopicPartition],
        decide: Decision,
        just_elected: Set[TopicPartition],
        batch: ControlRequestBatch,
    ) -> set[Replica]:
        context = self._context
        if broker_id in context.brokers:
            for topic_partition in partitions:
                batch.add_stop_replica(Replica(topic_partition, broker_id), delete=False)
        led = [tp for tp in partitions if tp in context.leadership]
        batch.add_update_metadata(context.live_or_shutting_down if led != partitions else ())
        outcome = await self._leader_and_isr.rewrite(led, decide, just_written=just_elected)
        batch.add_replicas_of(self._served(sorted(outcome.states)), but=broker_id)
        for topic_partition in outcome.failed:
            batch.retract_stop_replica(Replica(topic_partition, broker_id))
        done = [tp for tp in partitions if tp not in outcome.failed]
        context.set_states_on(broker_id, done, ReplicaState.OFFLINE)
        return {Replica(tp, broker_id) for tp in done}


def _without(broker_id: int, while_in_sync: Required) -> Decision:
    def decide(topic_partition: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr | None:
        if broker_id not in stored.isr:
            return None
        required = while_in_sync.get(topic_partition, ())
        if not {*required} <= {*stored.isr}:
            raise StateChangeFailed(
                f"{topic_partition} needs {required} in sync to lose {broker_id}, not {stored.isr}"
            )
        remaining = tuple(replica for replica in stored.isr if replica != broker_id)
        leader = NO_LEADER if stored.leader == broker_id else stored.leader
        return stored.led_by(leader, remaining or stored.isr)

    return decide
