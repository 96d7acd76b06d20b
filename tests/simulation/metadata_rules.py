"""The controller's and the reassignment's promises, checked over ZooKeeper's own order of writes.

Every transaction is looked at as it is applied, so that no two writes can hide one another:

- C1 a candidate writes only in multis that check ``/controller_epoch``; new leaders carry the
  current controller's epoch
- C2 each election raises the epoch by one, in the transaction that makes ``/controller``
- C3 leader epochs never decrease, one leader per epoch, each write follows the last version
- C4 a new leader comes from the ISR before it, but where an operator has asked for an unclean
  election and nobody leads; only a leader adds to its own ISR
- C5 an ISR is never empty, and the leader is in it
- R1 no original replica leaves, or is deleted, before the whole target has been in the ISR
- R2 while a move is pending the original replicas are all kept, whatever it is changed to
- R3 a move whose old replicas left the ISR before the new ones were all in it does not end below
  ``min.insync.replicas``
- R4 at completion leader and ISR are within the target, in a newer leader epoch
- R5 brokers are told of nothing that is not stored
- R7 a cancel leaves some in-sync replica
- R9 replicas change by a reassignment only (what names none, or one twice, is unreadable)
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.znodes import (
    controller,
    controller_epoch,
    delete_topics,
    layout,
    partition_states,
    topics,
)
from tests.fakes.zookeeper_tree import AppliedOperation
from tests.simulation.violations import require

_PARTITION = re.compile(r"/brokers/topics/([^/]+)/partitions/([0-9]+)(?:/state)?")
_UNFENCED = frozenset(
    {*layout.PERSISTENT_PATHS, controller.PATH, controller_epoch.PATH, "/cluster", "/cluster/id"}
)
"""What a candidate may write outside of a fenced multi: the election and the layout."""


@dataclass(kw_only=True)
class Move:
    """A pending reassignment of one partition, from its first write on."""

    origin: frozenset[int]
    origin_epoch: int
    reached: set[frozenset[int]] = field(default_factory=set)
    """Targets that have been within the ISR as a whole since the move began."""
    shrunk_from: frozenset[int] | None = None
    """The ISR before the write that took the last removed replica out of it."""


class MetadataRules:
    """Follows the transactions; raises `InvariantViolation` at the first that breaks a rule."""

    def __init__(
        self, is_candidate: Callable[[str], bool], broker_of: Callable[[str], int | None]
    ) -> None:
        """Make the rules for a cluster: which hosts are candidates, which are brokers."""
        self._is_candidate = is_candidate
        self._broker_of = broker_of
        self.controller_epoch = 0
        self.states: dict[TopicPartition, LeaderAndIsr] = {}
        self.assignments: dict[TopicPartition, ReplicaAssignment] = {}
        self.min_insync_replicas: dict[str, int] = {}
        self.moves: dict[TopicPartition, Move] = {}
        self.completed_moves = 0
        self.unclean: set[TopicPartition] = set()
        """Partitions that an operator asks an unclean election of, each for one."""
        self._doomed: set[str] = set()
        """Topics that somebody has asked to delete."""

    def is_being_deleted(self, partition: TopicPartition) -> bool:
        """Whether nothing keeps the controller from telling brokers to delete a partition."""
        is_moving = any(moving.topic == partition.topic for moving in self.moves)
        return partition.topic in self._doomed and not is_moving

    def replica_deleted(self, broker: int, partition: TopicPartition) -> None:
        """Check that the data which a broker is about to delete is not needed (R1)."""
        assignment = self.assignments.get(partition)
        state = self.states.get(partition)
        if assignment is None or state is None or partition.topic in self._doomed:
            return
        text = f"{partition} deleted on {broker}: {assignment}, {_short(state)}"
        require("R1", broker not in state.isr, f"a member of the ISR, {text}")
        # One being added holds nothing that is needed: an older word may still send it away.
        if broker in assignment.origin_replicas:
            move = self.moves.get(partition)
            reached = move is not None and frozenset(assignment.target_replicas) in move.reached
            require(
                "R1",
                broker in assignment.removing_replicas and reached,
                f"a replica that is not to go yet, {text}",
            )

    def obeyed(self, broker: int, partition: TopicPartition, leader: int, epoch: int) -> None:
        """Check that a broker was told of a leadership only once it was stored (R5)."""
        state = self.states.get(partition)
        if state is None:
            return  # The topic is gone, and the broker has not heard of it.
        text = f"{partition} on {broker}: leader {leader}/{epoch}, {_short(state)}"
        require("R5", epoch <= state.leader_epoch, f"told before it was stored, {text}")
        known = epoch < state.leader_epoch or leader == state.leader
        require("R5", known, f"told of another leader, {text}")

    def apply(self, host: str, operations: Sequence[AppliedOperation]) -> list[TopicPartition]:
        """Check one transaction of a host; return the partitions whose state it changed."""
        self._check_election(operations)
        if self._is_candidate(host):
            self._check_fence(host, operations)
        changed = []
        for operation in operations:
            if operation.name == "check":
                continue
            if operation.path.startswith(delete_topics.PATH + "/"):
                self._deletion_written(operation)
            partition = _partition_of(operation.path)
            if partition is not None and operation.path.endswith("/state"):
                self._state_written(host, partition, operation)
                changed.append(partition)
            elif partition is None and operation.path.startswith(topics.PATH + "/"):
                self._topic_written(operation)
        return changed

    # -- the controller -------------------------------------------------------------------------

    def _check_election(self, operations: Sequence[AppliedOperation]) -> None:
        writes = {o.path: o for o in operations if o.name in ("create", "set")}
        raised = writes.get(controller_epoch.PATH)
        elected = writes.get(controller.PATH)
        if elected is not None:
            require("C2", raised is not None, "/controller made without raising the epoch")
        if raised is None:
            return
        epoch = controller_epoch.decode(raised.data)
        if raised.name == "create" and elected is None:
            self.controller_epoch = epoch
            return
        require("C2", elected is not None, "epoch raised without an election")
        require(
            "C2", epoch == self.controller_epoch + 1, f"epoch {self.controller_epoch} to {epoch}"
        )
        self.controller_epoch = epoch

    def _check_fence(self, host: str, operations: Sequence[AppliedOperation]) -> None:
        writes = [o.path for o in operations if o.name != "check" and o.path not in _UNFENCED]
        fenced = any(o.name == "check" and o.path == controller_epoch.PATH for o in operations)
        require("C1", fenced or not writes, f"{host} wrote {writes} without checking the epoch")

    # -- states ---------------------------------------------------------------------------------

    def _state_written(
        self, host: str, partition: TopicPartition, operation: AppliedOperation
    ) -> None:
        before = self.states.get(partition)
        if operation.name == "delete":
            self.states.pop(partition, None)
            return
        after = partition_states.decode(partition, operation.data, operation.version)
        text = f"{partition} by {host}: {_short(before)} -> {_short(after)}"
        require("C5", bool(after.isr), f"empty ISR, {text}")
        require("C5", after.leader in (NO_LEADER, *after.isr), f"leader not in the ISR, {text}")
        if before is not None and operation.name == "set":
            require("C3", after.zk_version == before.zk_version + 1, f"version skipped, {text}")
            require("C3", after.leader_epoch >= before.leader_epoch, f"epoch decreased, {text}")
            if after.leader_epoch == before.leader_epoch:
                self._check_isr_change(host, before, after, text)
            else:
                self._check_new_epoch(partition, before, after, text)
        self.states[partition] = after
        self._note_reached(partition)

    def _check_isr_change(
        self, host: str, before: LeaderAndIsr, after: LeaderAndIsr, text: str
    ) -> None:
        require("C3", after.leader == before.leader, f"two leaders in one epoch, {text}")
        require("C4", self._broker_of(host) == after.leader, f"not by the leader, {text}")

    def _check_new_epoch(
        self, partition: TopicPartition, before: LeaderAndIsr, after: LeaderAndIsr, text: str
    ) -> None:
        require("C1", after.controller_epoch == self.controller_epoch, f"deposed, {text}")
        if (
            before.leader == NO_LEADER
            and partition in self.unclean
            and after.isr == (after.leader,)
        ):
            self.unclean.remove(partition)
        else:
            require("C4", set(after.isr) <= set(before.isr), f"ISR grew, {text}")
            require("C4", after.leader in (NO_LEADER, *before.isr), f"unclean, {text}")
        move = self.moves.get(partition)
        removing = set(self.assignments[partition].removing_replicas)
        if move is not None and removing & set(before.isr) and not removing & set(after.isr):
            move.shrunk_from = frozenset(before.isr)

    def _deletion_written(self, operation: AppliedOperation) -> None:
        topic = operation.path.rpartition("/")[2]
        if operation.name == "create":
            self._doomed.add(topic)
        else:
            self._doomed.discard(topic)

    # -- assignments and moves ------------------------------------------------------------------

    def _topic_written(self, operation: AppliedOperation) -> None:
        name = topics.topic_of(operation.path)
        if operation.path != topics.path(name):
            return
        known = [tp for tp in self.assignments if tp.topic == name]
        if operation.name == "delete":
            for partition in known:
                del self.assignments[partition]
                self.moves.pop(partition, None)
            return
        written = topics.decode(name, operation.data, operation.version).partitions
        for number, after in written.items():
            partition = TopicPartition(name, number)
            before = self.assignments.get(partition)
            self.assignments[partition] = after
            if before is not None and before != after:
                self._assignment_changed(partition, before, after)

    def _assignment_changed(
        self, partition: TopicPartition, before: ReplicaAssignment, after: ReplicaAssignment
    ) -> None:
        move = self.moves.get(partition)
        text = f"{partition}: {before} -> {after}"
        if move is None:
            same = set(before.replicas) == set(after.replicas) and not after.is_being_reassigned
            require("R9", after.is_being_reassigned or same, f"replicas exchanged at once, {text}")
            if after.is_being_reassigned:
                state = self.states.get(partition)
                epoch = -1 if state is None else state.leader_epoch
                self.moves[partition] = Move(origin=frozenset(before.replicas), origin_epoch=epoch)
                self._check_origin_kept(self.moves[partition], after, text)
                self._note_reached(partition)
            return
        if after.is_being_reassigned:
            self._check_origin_kept(move, after, text)
            self._note_reached(partition)
            return
        self._check_end(partition, move, after, text)
        del self.moves[partition]
        self.completed_moves += 1

    def _check_origin_kept(self, move: Move, after: ReplicaAssignment, text: str) -> None:
        require("R2", set(after.origin_replicas) == move.origin, f"origin lost, {text}")
        require("R2", move.origin <= set(after.replicas), f"an original replica left, {text}")

    def _check_end(
        self, partition: TopicPartition, move: Move, after: ReplicaAssignment, text: str
    ) -> None:
        state = self.states.get(partition)
        replicas = frozenset(after.replicas)
        assert state is not None, f"a move of a partition without a state, {text}"
        text = f"{text}, {_short(state)}"
        if replicas == move.origin:
            require("R7", bool(replicas & set(state.isr)), f"no in-sync replica left, {text}")
            return
        require("R1", replicas in move.reached, f"the target never was in sync, {text}")
        enough = len(state.isr) >= self.min_insync_replicas.get(partition.topic, 1)
        in_time = move.shrunk_from is None or replicas <= move.shrunk_from
        require("R3", enough or in_time, f"below min.insync.replicas, {text}")
        require("R4", set(state.isr) <= replicas, f"ISR beyond the target, {text}")
        require("R4", state.leader in (NO_LEADER, *replicas), f"leader not in the target, {text}")
        require("R4", state.leader_epoch > move.origin_epoch, f"leader epoch not raised, {text}")

    def _note_reached(self, partition: TopicPartition) -> None:
        move = self.moves.get(partition)
        state = self.states.get(partition)
        if move is not None and state is not None:
            target = frozenset(self.assignments[partition].target_replicas)
            if target <= set(state.isr):
                move.reached.add(target)


def throttles_left(configs: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return what a move has left behind (R10): config path and name of each throttle."""
    return [
        f"{path}: {name}"
        for path, values in sorted(configs.items())
        for name in sorted(values)
        if "replication.throttled" in name
    ]


def _short(state: LeaderAndIsr | None) -> str:
    if state is None:
        return "none"
    return f"leader {state.leader}/{state.leader_epoch} isr {list(state.isr)} v{state.zk_version}"


def _partition_of(path: str) -> TopicPartition | None:
    """Return the partition that a path belongs to, or None."""
    match = _PARTITION.fullmatch(path)
    return TopicPartition(match[1], int(match[2])) if match else None
