"""Requests for reassignments: keys 45 and 46 and the legacy znode; which of them are refused.

The latest request wins. A call of key 45 takes its partitions out of /admin/reassign_partitions;
a new znode overrides earlier calls for its partitions. At failover the znode comes first, then the
other pending reassignments that the topics store.
"""

from collections.abc import Collection, Mapping

from ballast.controller.errors import RequestRefused
from ballast.controller.machines.components import Components
from ballast.controller.reassignment.reassignment import Assignments, Reassignment
from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr

Answers = dict[TopicPartition, RequestRefused | None]
Targets = Mapping[TopicPartition, tuple[int, ...] | None]


class ReassignmentRequests:
    """Checks requests, and starts all accepted ones together by `Reassignment`."""

    def __init__(self, components: Components, reassignment: Reassignment) -> None:
        self._context = components.context
        self._store = components.store
        self._leader_and_isr = components.leader_and_isr
        self._reassignment = reassignment

    async def alter(self, targets: Targets) -> Answers:
        """Start, override or cancel (None) reassignments; return the refusals by partition."""
        answers: Answers = {tp: self._refusal(tp, targets[tp]) for tp in sorted(targets)}
        accepted = await self._build(targets, answers)
        await self._take_out_of_legacy_request(accepted)
        taken = await self._start(accepted)
        for topic_partition in accepted.keys() - taken.keys():
            answers[topic_partition] = RequestRefused(
                "UNKNOWN_SERVER_ERROR", "The metadata store did not take the assignment."
            )
        return answers

    def pending(
        self, partitions: Collection[TopicPartition] | None
    ) -> Mapping[TopicPartition, ReplicaAssignment]:
        """Return those of the partitions (None: of all) that are being reassigned."""
        return {
            topic_partition: self._context.assignment(topic_partition)
            for topic_partition in self._context.being_reassigned
            if partitions is None or topic_partition in partitions
        }

    async def on_legacy_request(self) -> None:
        """React to /admin/reassign_partitions.

        Kafka reacts to its creation only. Here a change is honoured too (KAFKA-9478); partitions
        that already have this target are only completed, if possible.
        """
        accepted = await self._read_legacy_request()
        fresh = {
            tp: a
            for tp, a in accepted.items()
            if a != self._context.assignment(tp) or not a.is_being_reassigned
        }
        taken = await self._start(fresh)
        await self._take_out_of_legacy_request(fresh.keys() - taken.keys())
        await self._reassignment.complete_where_possible(accepted.keys() - fresh.keys())

    async def resume_all(self) -> None:
        """Resume at failover: the legacy znode's partitions first, then all others pending."""
        accepted = await self._read_legacy_request()
        pending = {tp: a for tp, a in self.pending(None).items() if tp not in accepted}
        taken = await self._start({**accepted, **pending})
        await self._take_out_of_legacy_request(accepted.keys() - taken.keys())

    async def _start(self, assignments: Assignments) -> Assignments:
        if not assignments:
            return assignments
        return await self._reassignment.on_partition_reassignment(assignments)

    async def _read_legacy_request(self) -> dict[TopicPartition, ReplicaAssignment]:
        """Return the accepted partitions of the znode; take the refused ones out of it (R8)."""
        requested = await self._store.read_reassignments()
        answers: Answers = {tp: _malformed(requested[tp]) for tp in sorted(requested)}
        accepted = await self._build(requested, answers)
        refused = requested.keys() - accepted.keys()
        if refused:
            await self._store.write_reassignments({tp: requested[tp] for tp in sorted(accepted)})
        return accepted

    async def _take_out_of_legacy_request(self, partitions: Collection[TopicPartition]) -> None:
        if not partitions:
            return
        requested = await self._store.read_reassignments()
        remaining = {tp: replicas for tp, replicas in requested.items() if tp not in partitions}
        if len(remaining) < len(requested):
            await self._store.write_reassignments(remaining)

    def _refusal(
        self, topic_partition: TopicPartition, target: tuple[int, ...] | None
    ) -> RequestRefused | None:
        """Return the refusal of one request, or None; checks are in Kafka's order."""
        known = self._context.has_partition(topic_partition)
        if target is None:
            if known and self._context.is_being_reassigned(topic_partition):
                return None
            return RequestRefused(
                "NO_REASSIGNMENT_IN_PROGRESS", "No partition reassignment is in progress."
            )
        adding = target
        if known:
            adding = self._context.assignment(topic_partition).reassign_to(target).adding_replicas
        return _malformed(target) or self._not_alive(target, adding)

    def _not_alive(self, target: tuple[int, ...], adding: tuple[int, ...]) -> RequestRefused | None:
        live = self._context.live_brokers
        if live.issuperset(adding):
            return None
        return _invalid(
            "Replica assignment has brokers that are not alive. "
            f"Replica list: {_listed(target)}, live broker list: {_listed(sorted(live))}"
        )

    async def _build(
        self, targets: Targets, answers: Answers
    ) -> dict[TopicPartition, ReplicaAssignment]:
        """Return the accepted assignments; put refusals into ``answers``."""
        accepted: dict[TopicPartition, ReplicaAssignment] = {}
        for topic_partition in [tp for tp, refusal in answers.items() if refusal is None]:
            gone = self._context.is_queued_for_deletion(topic_partition)
            if gone or not self._context.has_partition(topic_partition):
                answers[topic_partition] = RequestRefused(
                    "UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist."
                )
                continue
            current = self._context.assignment(topic_partition)
            target = targets[topic_partition]
            accepted[topic_partition] = current.reassign_to(
                current.origin_replicas if target is None else target
            )
        await self._refuse_losses(accepted, answers)
        return accepted

    async def _refuse_losses(
        self, accepted: dict[TopicPartition, ReplicaAssignment], answers: Answers
    ) -> None:
        """Refuse to drop the only in-sync replicas (KAFKA-14424).

        A cancellation or an override drops replicas that the pending reassignment has added. If
        no live member of the ISR is among the others, records would be lost.
        """
        dropping = [
            tp
            for tp, a in accepted.items()
            if not {*self._context.assignment(tp).replicas} <= {*a.replicas}
        ]
        states = await self._leader_and_isr.read(dropping)
        for topic_partition in dropping:
            state = states.get(topic_partition)
            replicas = accepted[topic_partition].replicas
            if state is not None and not self._keeps_in_sync(topic_partition, state, replicas):
                del accepted[topic_partition]
                answers[topic_partition] = _invalid(
                    f"None of the replicas {_listed(replicas)} is in sync; the in-sync replicas "
                    f"are {_listed(state.isr)}."
                )

    def _keeps_in_sync(
        self, topic_partition: TopicPartition, state: LeaderAndIsr, replicas: tuple[int, ...]
    ) -> bool:
        live = [r for r in state.isr if self._context.is_online(topic_partition, r)]
        return any(replica in replicas for replica in live or state.isr)


def _malformed(target: tuple[int, ...] | None) -> RequestRefused | None:
    if target is None:
        return None
    if not target:
        return _invalid("Empty replica list specified in partition reassignment.")
    if len(set(target)) < len(target):
        return _invalid(
            f"Duplicate replica ids in partition reassignment replica list: {_listed(target)}"
        )
    if any(replica < 0 for replica in target):
        return _invalid(f"Invalid broker id in replica list: {_listed(target)}")
    return None


def _invalid(message: str) -> RequestRefused:
    return RequestRefused("INVALID_REPLICA_ASSIGNMENT", message)


def _listed(broker_ids: Collection[int]) -> str:
    return f"[{', '.join(map(str, broker_ids))}]"
