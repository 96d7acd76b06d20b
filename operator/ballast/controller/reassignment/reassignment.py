"""Partition reassignment: Kafka's ``onPartitionReassignment`` (KIP-455), many partitions at once.

Symbols: RS = replicas now, AR = adding, RR = removing, ORS = RS - AR (origin), TRS = RS - RR
(target). Example, ORS {1,2,3} to TRS {4,5,6}::

    RS             AR       RR       leader  ISR            after
    {1,2,3}                          1       {1,2,3}        (initial state)
    {4,5,6,1,2,3}  {4,5,6}  {1,2,3}  1       {1,2,3}        U2
    {4,5,6,1,2,3}  {4,5,6}  {1,2,3}  1       {1,2,3,4,5,6}  the new replicas have caught up
    {4,5,6,1,2,3}  {4,5,6}  {1,2,3}  4       {1,2,3,4,5,6}  B3
    {4,5,6,1,2,3}  {4,5,6}  {1,2,3}  4       {4,5,6}        B4
    {4,5,6}                          4       {4,5,6}        B6

The RS, AR and RR of the table are the stored ones. What must be durable before what:

- U1 before everything else: U2, U3, A1 and A2 act on an intent that a later controller finds again.
- A1 before A2: the raised leader epoch is stored before new replicas start under it.
- TRS in the stored ISR before B3, and checked again in the conditional writes of B3 and B4: nothing
  is removed before its successors have all committed records.
- B3 before B4, and B4 before B5: a replica leads no longer, then is out of the stored ISR, and only
  then its data is deleted.
- B5 before B6: ORS is stored nowhere else. A controller that takes over before B6 starts again;
  after B6 it would not know which replicas to delete.
- B6 before B7: the legacy znode stays until the result is stored.
"""

from collections.abc import Collection, Mapping

from ballast.controller.errors import StateChangeFailed
from ballast.controller.machines.components import Components
from ballast.controller.machines.control_request_batch import ControlRequestBatch
from ballast.controller.machines.elections import ElectionStrategy, elect_reassigned
from ballast.controller.state.context import by_topic
from ballast.controller.state.states import PartitionState, Replica, ReplicaState
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr

Assignments = Mapping[TopicPartition, ReplicaAssignment]


class Reassignment:
    """Moves partitions to their target replicas; continues from any step after a failover."""

    def __init__(self, components: Components) -> None:
        self._context = components.context
        self._store = components.store
        self._channels = components.channels
        self._partitions = components.partitions
        self._replicas = components.replicas
        self._leader_and_isr = components.leader_and_isr
        self._deletion = components.deletion

    async def on_partition_reassignment(self, assignments: Assignments) -> Assignments:
        """Start, resume, override, cancel or complete: the assignment says which.

        Phase U stores the intent. Phase A starts the new replicas and waits for them; nothing
        times out. Phase B runs when the target replicas are in the ISR. A partition for which
        a step of phase B fails (say, no target replica is live) stays pending and is retried when
        a broker returns or the ISR changes; the others go on. Returns the assignments that were
        stored: all, except those of topics that are too large for the store.
        """
        self._deletion.hold(assignments)

        assignments = await self._store_intent(assignments)  # U1: RS, AR, RR to the store
        dropped = self._apply_intent(assignments)  # U2: RS, AR, RR to memory
        await self._stop_dropped(dropped)  # U3: replicas of an overridden or cancelled move

        complete, waiting = await self._split_by_completeness(assignments)
        if waiting:
            await self._raise_leader_epochs(waiting)  # A1: LeaderAndIsr to ORS + AR
            self._start_new_replicas(waiting)  # A2: AR -> NewReplica
        if complete:
            self._bring_new_replicas_online(complete)  # B1: AR -> OnlineReplica
            self._apply_target(complete)  # B2: RS = TRS, AR = RR = [] in memory
            complete = await self._move_leaders_if_required(complete)  # B3: leaders into TRS
            complete = await self._take_removed_offline(complete)  # B4: RR -> Offline, out of ISR
            self._delete_removed(complete)  # B5: RR -> NonExistentReplica
            await self._store_target(complete)  # B6: RS = TRS, AR = RR = [] to the store
            await self._forget_legacy_requests(complete)  # B7: /admin/reassign_partitions
            self._send_metadata(complete)  # B8: UpdateMetadata
            await self._deletion.release(complete)
        return assignments

    async def complete_where_possible(self, partitions: Collection[TopicPartition]) -> None:
        """Complete the partitions whose target replicas are in sync; skip the others."""
        pending = {
            tp: self._context.assignment(tp)
            for tp in sorted(partitions)
            if self._context.is_being_reassigned(tp)
        }
        complete, _ = await self._split_by_completeness(pending)
        if complete:
            await self.on_partition_reassignment(complete)

    # Phase U

    async def _store_intent(self, assignments: Assignments) -> Assignments:
        """Return what is stored; a topic that the store refuses does not hold the others up."""
        changed = {tp: a for tp, a in assignments.items() if a != self._context.assignment(tp)}
        try:
            await self._write(changed)
        except StateChangeFailed:
            refused = await self._write_one_by_one(changed)
            return {tp: a for tp, a in assignments.items() if tp.topic not in refused}
        return assignments

    def _apply_intent(self, assignments: Assignments) -> list[Replica]:
        """Return the replicas that were in RS and no longer are."""
        before = self._context.replicas_of(assignments)
        self._context.set_assignments(assignments)
        remaining = set(self._context.replicas_of(assignments))
        self._context.strays -= remaining
        return sorted(set(before) - remaining)

    async def _stop_dropped(self, dropped: Collection[Replica]) -> None:
        existing = self._existing(dropped)
        if not existing:
            return
        led = [r.topic_partition for r in existing if self._leads(r)]
        await self._partitions.elect(led, ElectionStrategy.OFFLINE)
        # Under the old epoch a leader may still add a dropped replica to the ISR, between the check
        # that it is not there and the deletion of its data.
        partitions = {r.topic_partition for r in existing} & self._context.leadership.keys()
        fenced = await self._leader_and_isr.raise_epochs(sorted(partitions))
        kept = fenced.failed.keys()
        self._delete(
            await self._replicas.take_offline(
                [r for r in existing if r.topic_partition not in kept]
            )
        )

    async def _split_by_completeness(
        self, assignments: Assignments
    ) -> tuple[Assignments, Assignments]:
        """Split by whether TRS is in the ISR, as stored at this moment."""
        pending = [tp for tp, a in assignments.items() if a.is_being_reassigned]
        states = await self._leader_and_isr.read(pending)
        waiting = {tp for tp in pending if not _is_caught_up(assignments[tp], states.get(tp))}
        return (
            {tp: a for tp, a in assignments.items() if tp not in waiting},
            {tp: a for tp, a in assignments.items() if tp in waiting},
        )

    # Phase A

    async def _raise_leader_epochs(self, waiting: Assignments) -> None:
        outcome = await self._leader_and_isr.raise_epochs(list(waiting))
        batch = ControlRequestBatch(self._context, self._channels)
        for topic_partition in sorted(outcome.states):
            assignment = waiting[topic_partition]
            batch.add_leader_and_isr(assignment.origin_replicas, topic_partition)
            batch.add_leader_and_isr(assignment.adding_replicas, topic_partition, is_new=True)
        batch.send()

    def _start_new_replicas(self, waiting: Assignments) -> None:
        self._replicas.start_new(self._not_existing(_adding(waiting)))

    # Phase B

    def _bring_new_replicas_online(self, complete: Assignments) -> None:
        adding = _adding(complete)
        self._replicas.start_new(self._not_existing(adding))
        self._replicas.bring_online(self._existing(adding))

    def _apply_target(self, complete: Assignments) -> None:
        self._context.set_assignments({tp: a.settled() for tp, a in complete.items()})

    async def _move_leaders_if_required(self, complete: Assignments) -> Assignments:
        """Elect where the leader is not in TRS or is dead; else only raise the leader epoch.

        Without the new epoch a removed replica could come back into the ISR. The write is
        conditional on the state it was decided on, so TRS is in the ISR when it is done.
        """

        def decide(topic_partition: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr:
            assignment = complete[topic_partition]
            target = assignment.target_replicas
            if assignment.is_being_reassigned and not _is_caught_up(assignment, stored):
                raise StateChangeFailed(f"{topic_partition}: {target} fell out of {stored.isr}")
            online = self._context.online_replicas(topic_partition)
            if stored.leader in online:
                return stored
            elected = elect_reassigned(target, stored.isr, online)
            if elected is None:
                raise StateChangeFailed(f"{topic_partition}: none of {target} can lead")
            return stored.led_by(elected.leader, stored.isr)

        led = [tp for tp in complete if tp in self._context.leadership]
        outcome = await self._leader_and_isr.rewrite(led, decide)
        batch = ControlRequestBatch(self._context, self._channels)
        for topic_partition in sorted(outcome.states):
            self._context.set_partition_state(topic_partition, PartitionState.ONLINE)
            replicas = self._context.assignment(topic_partition).replicas
            batch.add_leader_and_isr(replicas, topic_partition)
        batch.send()
        return self._postpone(complete, outcome.failed)

    async def _take_removed_offline(self, complete: Assignments) -> Assignments:
        removing = self._existing(_removing(complete))
        targets = {tp: a.target_replicas for tp, a in complete.items() if a.removing_replicas}
        done = await self._replicas.take_offline(removing, while_in_sync=targets)
        return self._postpone(complete, {r.topic_partition for r in {*removing} - done})

    def _delete_removed(self, complete: Assignments) -> None:
        self._delete(self._existing(_removing(complete)))

    async def _store_target(self, complete: Assignments) -> None:
        await self._write({tp: a.settled() for tp, a in complete.items()})

    async def _forget_legacy_requests(self, complete: Assignments) -> None:
        requested = await self._store.read_reassignments()
        done = {tp for tp, a in complete.items() if requested.get(tp) == a.target_replicas}
        if done:
            remaining = {tp: target for tp, target in requested.items() if tp not in done}
            await self._store.write_reassignments(remaining)

    def _send_metadata(self, complete: Assignments) -> None:
        batch = ControlRequestBatch(self._context, self._channels)
        batch.add_update_metadata(self._context.live_or_shutting_down, complete)
        batch.send()

    # Failover

    def strays_in_isr(self) -> list[Replica]:
        """Return the replicas that an ISR names and RS does not.

        A controller that fails between U1 and U3 leaves them. Call this before the state
        machines start, since their elections shrink the ISR.
        """
        assignments, deleted = self._context.assignments, self._context.being_deleted
        return sorted(
            Replica(topic_partition, broker_id)
            for topic_partition, state in self._context.leadership.items()
            # A cheap check first: in most partitions every replica is in sync.
            if state.isr != assignments[topic_partition].replicas
            for broker_id in {*state.isr}.difference(assignments[topic_partition].replicas)
            if topic_partition.topic not in deleted
        )

    async def expel(self, strays: Collection[Replica]) -> None:
        """Do U3 for the strays that `strays_in_isr` found."""
        for replica in strays:
            self._context.set_replica_state(replica, ReplicaState.OFFLINE)
        await self._stop_dropped(strays)

    # What several steps share

    async def _write(self, assignments: Assignments) -> None:
        """Write one znode per topic, for all of its partitions that change."""
        if assignments:
            await self._store.write_topics(
                [
                    self._context.topic_with(topic, changes)
                    for topic, changes in by_topic(assignments).items()
                ]
            )

    async def _write_one_by_one(self, assignments: Assignments) -> set[str]:
        """Return the topics that could not be written."""
        refused: set[str] = set()
        for topic in by_topic(assignments):
            try:
                await self._write({tp: a for tp, a in assignments.items() if tp.topic == topic})
            except StateChangeFailed as failure:
                self._context.failures.append(failure)
                refused.add(topic)
        return refused

    def _delete(self, replicas: Collection[Replica]) -> None:
        """Offline -> DeletionStarted -> Successful -> NonExistent; do not wait for responses."""
        self._replicas.start_deletion(replicas)
        self._replicas.finish_deletion(replicas)
        self._replicas.forget(replicas)
        self._context.strays |= set(replicas)

    def _postpone(self, complete: Assignments, failed: Collection[TopicPartition]) -> Assignments:
        """Restore the pending assignment of failed partitions; return the others.

        A partition whose order only changed, or whose reassignment was cancelled, has no target
        replicas to wait for and goes on.
        """
        pending = {tp: complete[tp] for tp in failed if complete[tp].is_being_reassigned}
        self._context.set_assignments(pending)
        return {tp: a for tp, a in complete.items() if tp not in pending}

    def _existing(self, replicas: Collection[Replica]) -> list[Replica]:
        absent = set(self._not_existing(replicas))
        return [replica for replica in replicas if replica not in absent]

    def _not_existing(self, replicas: Collection[Replica]) -> list[Replica]:
        gone = ReplicaState.NON_EXISTENT
        return [r for r in replicas if self._context.replica_state(r) is gone]

    def _leads(self, replica: Replica) -> bool:
        state = self._context.leadership.get(replica.topic_partition)
        return state is not None and state.leader == replica.broker_id


def _is_caught_up(assignment: ReplicaAssignment, state: LeaderAndIsr | None) -> bool:
    return state is not None and set(assignment.target_replicas) <= set(state.isr)


def _adding(assignments: Assignments) -> list[Replica]:
    return sorted(Replica(tp, b) for tp, a in assignments.items() for b in a.adding_replicas)


def _removing(assignments: Assignments) -> list[Replica]:
    return sorted(Replica(tp, b) for tp, a in assignments.items() for b in a.removing_replicas)
