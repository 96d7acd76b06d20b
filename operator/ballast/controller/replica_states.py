"""The replica state machine: what each copy is told (the table is in `states`)."""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from operator import attrgetter

from ballast.controller.command_batch import CommandBatch
from ballast.controller.context import ControllerContext
from ballast.controller.errors import IllegalTransition, StateChangeFailed
from ballast.controller.leadership import Decision, LeadershipWriter
from ballast.controller.ports import BrokerChannels
from ballast.controller.states import VALID_PREVIOUS_REPLICA_STATES, Replica, ReplicaState
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr

Required = Mapping[TopicPartition, tuple[int, ...]]
_NOTHING_REQUIRED: Required = {}
_PARTITION = attrgetter("topic_partition")


class ReplicaStateMachine:
    """Moves replicas between states; each call is one batch of commands.

    Every method first checks all its replicas against the table: one illegal transition raises
    `IllegalTransition` and nothing is changed. A replica that fails for another reason keeps its
    state and is left out of the answer.
    """

    def __init__(
        self, context: ControllerContext, channels: BrokerChannels, leadership: LeadershipWriter
    ) -> None:
        self._context = context
        self._channels = channels
        self._leadership = leadership

    async def startup(self) -> None:
        """Take the states from the live brokers, and tell live replicas how they are led."""
        online: list[Replica] = []
        offline: list[Replica] = []
        for replica in self._context.replicas_of(self._context.partitions()):
            (online if self._context.is_online(replica) else offline).append(replica)
        self._context.set_replica_states(online, ReplicaState.ONLINE)
        self._context.set_replica_states(offline, ReplicaState.DELETION_INELIGIBLE)
        self._tell_how_they_are_led(online)
        await self.take_offline(offline)

    def start_new(self, replicas: Collection[Replica]) -> None:
        """NewReplica: tell it to follow, where there is a leader already."""
        self._check(replicas, ReplicaState.NEW)
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
        """OnlineReplica: one that was new has been told already; others are told how they are led.

        Nothing is said of a topic that waits for its deletion, unless a reassignment holds it
        (KAFKA-13342).
        """
        self._check(replicas, ReplicaState.ONLINE)
        new, state_of = ReplicaState.NEW, self._context.replica_states.get
        self._tell_how_they_are_led([r for r in sorted(replicas) if state_of(r) is not new])
        self._context.set_replica_states(replicas, ReplicaState.ONLINE)

    async def take_offline(
        self, replicas: Collection[Replica], *, while_in_sync: Required = _NOTHING_REQUIRED
    ) -> set[Replica]:
        """OfflineReplica: stop it, take it out of the ISR, tell the others; return the done ones.

        The ISR keeps its last member, and a leader that goes offline leaves no leader. The
        replicas of one broker leave in one write, brokers one after the other. A partition in
        ``while_in_sync`` fails unless those brokers are in the ISR at the moment of the write.
        """
        self._check(replicas, ReplicaState.OFFLINE)
        batch = self._batch()
        done: set[Replica] = set()
        for broker_id in sorted({replica.broker_id for replica in replicas}):
            partitions = sorted(r.topic_partition for r in replicas if r.broker_id == broker_id)
            decide = _without(broker_id, while_in_sync)
            done |= await self._take_broker_offline(broker_id, partitions, decide, batch)
        batch.send()
        return done

    def start_deletion(self, replicas: Collection[Replica]) -> None:
        """ReplicaDeletionStarted: tell it to delete its data."""
        self._check(replicas, ReplicaState.DELETION_STARTED)
        batch = self._batch()
        for replica in sorted(replicas):
            batch.add_stop_replica(replica, delete=True)
            self._context.set_replica_state(replica, ReplicaState.DELETION_STARTED)
        batch.send()

    def finish_deletion(self, replicas: Collection[Replica]) -> None:
        """ReplicaDeletionSuccessful."""
        self._set(replicas, ReplicaState.DELETION_SUCCESSFUL)

    def fail_deletion(self, replicas: Collection[Replica]) -> None:
        """ReplicaDeletionIneligible."""
        self._set(replicas, ReplicaState.DELETION_INELIGIBLE)

    def forget(self, replicas: Collection[Replica]) -> None:
        """NonExistentReplica."""
        self._set(replicas, ReplicaState.NON_EXISTENT)

    def _tell_how_they_are_led(self, replicas: Iterable[Replica]) -> None:
        """Tell replicas, those of one partition next to one another, all in one batch."""
        batch = self._batch()
        for topic_partition, copies in groupby(replicas, key=_PARTITION):
            if topic_partition in self._context.leadership and self._is_served(topic_partition):
                batch.add_leader_and_isr([r.broker_id for r in copies], topic_partition)
        batch.send()

    def _batch(self) -> CommandBatch:
        return CommandBatch(self._context, self._channels)

    def _is_served(self, topic_partition: TopicPartition) -> bool:
        return not self._context.is_being_deleted(topic_partition)

    def _check(self, replicas: Collection[Replica], target: ReplicaState) -> None:
        allowed = VALID_PREVIOUS_REPLICA_STATES[target]
        found = set(map(self._context.replica_states.get, replicas))
        if all((state or ReplicaState.NON_EXISTENT) in allowed for state in found):
            return
        for replica in replicas:
            state = self._context.replica_state(replica)
            if state not in allowed:
                raise IllegalTransition(f"{replica} is {state} and cannot become {target}")

    def _set(self, replicas: Collection[Replica], target: ReplicaState) -> None:
        self._check(replicas, target)
        self._context.set_replica_states(replicas, target)

    async def _take_broker_offline(
        self,
        broker_id: int,
        partitions: Collection[TopicPartition],
        decide: Decision,
        batch: CommandBatch,
    ) -> set[Replica]:
        context = self._context
        for topic_partition in partitions:
            batch.add_stop_replica(Replica(topic_partition, broker_id), delete=False)
        led = [tp for tp in partitions if tp in context.leadership]
        batch.add_update_metadata(context.live_or_shutting_down if led != partitions else ())
        outcome = await self._leadership.rewrite(led, decide)
        for topic_partition in sorted(outcome.states):
            if not context.is_being_deleted(topic_partition):
                replicas = context.assignment(topic_partition).replicas
                others = [replica for replica in replicas if replica != broker_id]
                batch.add_leader_and_isr(others, topic_partition)
        for topic_partition in outcome.failed:
            batch.retract_stop_replica(Replica(topic_partition, broker_id))
        done = {Replica(tp, broker_id) for tp in partitions if tp not in outcome.failed}
        context.set_replica_states(done, ReplicaState.OFFLINE)
        return done


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
