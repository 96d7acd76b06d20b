"""The partition state machine: elects leaders, sends LeaderAndIsr (the table is in `states`)."""

from collections.abc import Collection, Mapping, Set

from ballast.controller.errors import IllegalTransition, StateChangeFailed
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.machines.elections import (
    ElectionResult,
    ElectionStrategy,
    elect_for_controlled_shutdown,
    elect_offline,
    elect_preferred,
    elect_reassigned,
)
from ballast.controller.machines.leader_and_isr_updater import LeaderAndIsrUpdater
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.options import ControllerOptions
from ballast.controller.state.ports import BrokerChannels, MetadataStore
from ballast.controller.state.states import VALID_PREVIOUS_PARTITION_STATES, PartitionState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr

_UNCLEAN = "unclean.leader.election.enable"

Failures = Mapping[TopicPartition, StateChangeFailed]


class PartitionStateMachine:
    """Moves partitions between states; each call sends one batch of control requests."""

    def __init__(
        self,
        context: ControllerContext,
        store: MetadataStore,
        channels: BrokerChannels,
        leader_and_isr: LeaderAndIsrUpdater,
        options: ControllerOptions,
    ) -> None:
        self._context = context
        self._store = store
        self._channels = channels
        self._leader_and_isr = leader_and_isr
        self._options = options

    async def startup(self) -> None:
        """Take the states from leadership and live brokers, then elect missing leaders."""
        context = self._context
        leadership, assignments = context.leadership, context.assignments
        are_all_led = len(leadership) == len(assignments)
        new = [] if are_all_led else [tp for tp in context.partitions() if tp not in leadership]
        led_by_no_replica = [
            tp for tp, state in leadership.items() if state.leader not in assignments[tp].replicas
        ]
        context.set_partition_states(new, PartitionState.NEW)
        context.set_partition_states(leadership, PartitionState.ONLINE)
        context.set_partition_states(context.led_by_none_online(), PartitionState.OFFLINE)
        context.set_partition_states(led_by_no_replica, PartitionState.OFFLINE)
        await self.elect_missing_leaders()

    async def elect_missing_leaders(
        self, topics: Collection[str] | None = None
    ) -> Set[TopicPartition]:
        """Elect leaders of partitions that have none, except in topics to be deleted.

        All of them, or those of ``topics``. Returns those whose leader was written.
        """
        leadership, states = self._context.leadership, self._context.partition_states
        deleted = self._context.being_deleted
        not_online = [tp for tp, state in states.items() if state is not PartitionState.ONLINE]
        led_by_none = [tp for tp, state in leadership.items() if state.leader == NO_LEADER]
        waiting = {
            topic_partition
            for topic_partition in (*not_online, *led_by_none)
            if topic_partition.topic not in deleted
            and (topics is None or topic_partition.topic in topics)
        }
        failed = await self.elect(sorted(waiting), ElectionStrategy.OFFLINE)
        return waiting - failed.keys()

    async def elect(
        self, partitions: Collection[TopicPartition], strategy: ElectionStrategy
    ) -> Failures:
        """Bring partitions online: New ones get a first leader, the others an election.

        A partition that fails keeps its state and its leader. Raises `IllegalTransition`.
        """
        self._check(partitions, PartitionState.ONLINE)
        batch = ControlRequestBatch(self._context, self._channels)
        new = [tp for tp in partitions if self._context.partition_state(tp) is PartitionState.NEW]
        failed, existing = await self._lead_first_time(new, batch)
        others = sorted({*partitions} - {*new}) + sorted(existing)
        failed |= await self._elect(others, strategy, batch)
        batch.send()
        return failed

    def change(self, partitions: Collection[TopicPartition], target: PartitionState) -> None:
        """Set New, Offline or NonExistent, in the context only. Raises `IllegalTransition`."""
        assert target is not PartitionState.ONLINE, "partitions come online by elect()"
        self._check(partitions, target)
        self._context.set_partition_states(partitions, target)

    def _check(self, partitions: Collection[TopicPartition], target: PartitionState) -> None:
        allowed = VALID_PREVIOUS_PARTITION_STATES[target]
        state_of = self._context.partition_states.get
        for topic_partition in partitions:
            state = state_of(topic_partition, PartitionState.NON_EXISTENT)
            if state not in allowed:
                raise IllegalTransition(f"{topic_partition} is {state} and cannot become {target}")

    async def _lead_first_time(
        self, partitions: Collection[TopicPartition], batch: ControlRequestBatch
    ) -> tuple[dict[TopicPartition, StateChangeFailed], Collection[TopicPartition]]:
        """Write a first state: the first live replica leads, all live ones are in the ISR.

        Returns the failures, and the partitions that already had a state.
        """
        first: dict[TopicPartition, LeaderAndIsr] = {}
        failed: dict[TopicPartition, StateChangeFailed] = {}
        for topic_partition in sorted(partitions):
            replicas = self._context.assignment(topic_partition).replicas
            live = tuple(self._context.online_among(topic_partition, replicas))
            if live:
                first[topic_partition] = LeaderAndIsr(
                    leader=live[0],
                    leader_epoch=0,
                    isr=live,
                    controller_epoch=self._context.controller_epoch,
                )
            else:
                failed[topic_partition] = StateChangeFailed(
                    f"{topic_partition} cannot be led: none of its replicas {replicas} is live"
                )
        self._context.failures.extend(failed.values())
        created, existing = await self._leader_and_isr.create(first)
        for topic_partition in created:
            self._context.set_partition_state(topic_partition, PartitionState.ONLINE)
            batch.add_leader_and_isr(first[topic_partition].isr, topic_partition, is_new=True)
        self.change(existing, PartitionState.OFFLINE)
        return failed, existing

    async def _elect(
        self,
        partitions: Collection[TopicPartition],
        strategy: ElectionStrategy,
        batch: ControlRequestBatch,
    ) -> dict[TopicPartition, StateChangeFailed]:
        outcome = await self._rewrite(partitions, strategy, batch)
        if strategy is ElectionStrategy.OFFLINE and outcome:
            unclean = await self._where_unclean_is_allowed(outcome)
            again = await self._rewrite(unclean, ElectionStrategy.OFFLINE_UNCLEAN, batch)
            outcome = {tp: f for tp, f in outcome.items() if tp not in unclean} | again
        return outcome

    async def _rewrite(
        self,
        partitions: Collection[TopicPartition],
        strategy: ElectionStrategy,
        batch: ControlRequestBatch,
    ) -> dict[TopicPartition, StateChangeFailed]:
        context = self._context
        is_any_dir_offline = bool(context.offline_dir_replicas)
        chosen: dict[tuple[ReplicaAssignment, tuple[int, ...]], ElectionResult | None] = {}

        def decide(topic_partition: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr:
            # A broker that fails may lead thousands of partitions. Unless a log directory has
            # failed, partitions with the same assignment and ISR elect the same leader.
            case = context.assignments[topic_partition], stored.isr
            if is_any_dir_offline or case not in chosen:
                chosen[case] = self._choose(topic_partition, stored.isr, strategy)
            elected = chosen[case]
            if elected is None:
                raise StateChangeFailed(
                    f"no leader for {topic_partition} ({strategy.value}): ISR {stored.isr}, "
                    f"live brokers {sorted(context.live_brokers)}"
                )
            return stored.led_by(elected.leader, elected.isr)

        outcome = await self._leader_and_isr.rewrite(partitions, decide)
        context.set_partition_states(outcome.states, PartitionState.ONLINE)
        batch.add_replicas_of(sorted(outcome.states))
        return outcome.failed

    def _choose(
        self, topic_partition: TopicPartition, isr: tuple[int, ...], strategy: ElectionStrategy
    ) -> ElectionResult | None:
        context = self._context
        assignment = context.assignment(topic_partition)
        replicas = assignment.replicas
        live = context.online_among(topic_partition, replicas)
        match strategy:
            case ElectionStrategy.OFFLINE:
                return elect_offline(replicas, isr, live)
            case ElectionStrategy.OFFLINE_UNCLEAN:
                return elect_offline(replicas, isr, live, unclean=True)
            case ElectionStrategy.REASSIGN:
                return elect_reassigned(assignment.target_replicas, isr, live)
            case ElectionStrategy.PREFERRED:
                return elect_preferred(replicas, isr, live)
            case ElectionStrategy.CONTROLLED_SHUTDOWN:
                return elect_for_controlled_shutdown(
                    replicas, isr, {*live, *context.shutting_down}, context.shutting_down
                )

    async def _where_unclean_is_allowed(
        self, partitions: Collection[TopicPartition]
    ) -> Collection[TopicPartition]:
        configs = await self._store.read_topic_configs(sorted({tp.topic for tp in partitions}))
        defaults = await self._store.read_broker_defaults()
        default = defaults.get(_UNCLEAN, str(self._options.config.unclean_leader_election_enable))
        return [
            tp
            for tp in sorted(partitions)
            if configs.get(tp.topic, {}).get(_UNCLEAN, default).lower() == "true"
        ]
