"""OffsetCommit, OffsetFetch, OffsetDelete, DeleteGroups and expiry: offsets and the end of a group.

An offset is committed, and its request answered, once every in-sync replica of the group's
partition has the record. Tombstones are not waited for: if one is lost, the next expiry finds the
offset again, or the client can repeat the deletion.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from ballast.coordinator.group import Group
from ballast.coordinator.membership import check_member
from ballast.coordinator.ports import GroupOptions, Journal, Record
from ballast.coordinator.rebalance import Rebalances
from ballast.coordinator.records import group_tombstone, offset_record, offset_tombstone
from ballast.coordinator.requests import CommitReply, CommitRequest, CommittedOffset
from ballast.coordinator.states import GroupState
from ballast.coordinator.subscriptions import CONSUMER
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode

_COMMIT_ERRORS: Mapping[ErrorCode, ErrorCode] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}
"""The error for clients, by the error of the append."""

Select = Callable[[Group], Collection[TopicPartition]]
"""Removes offsets from a group and returns their partitions."""


class Commits:
    """Stores, deletes and expires offsets."""

    def __init__(
        self,
        options: GroupOptions,
        rebalances: Rebalances,
        journal: Journal,
        clock_ms: Callable[[], int],
    ) -> None:
        """Make it; ``clock_ms`` returns the time in ms since the epoch."""
        self._options = options
        self._rebalances = rebalances
        self._journal = journal
        self._clock_ms = clock_ms

    def commit(self, group: Group, request: CommitRequest, reply: CommitReply) -> None:
        """Store offsets of a member, or of a group without members."""
        error = self._check(group, request)
        if error is not ErrorCode.NONE:
            reply(dict.fromkeys(request.offsets, error))
            return
        longest = self._options.offset_metadata_max_bytes
        accepted = {n: o for n, o in request.offsets.items() if len(o.metadata) <= longest}
        outcome = dict.fromkeys(request.offsets, ErrorCode.OFFSET_METADATA_TOO_LARGE)
        if not accepted:
            reply(outcome)
            return

        def appended(error: ErrorCode, log_offset: int) -> None:
            if error is ErrorCode.NONE:
                group.offsets.complete(accepted, log_offset)
            else:
                group.offsets.fail(accepted)
            reply(outcome | dict.fromkeys(accepted, _COMMIT_ERRORS.get(error, error)))

        group.offsets.begin(accepted)
        records = [offset_record(group.group_id, name, accepted[name]) for name in accepted]
        self._journal.append(group.partition, records, appended)

    def _check(self, group: Group, request: CommitRequest) -> ErrorCode:
        identity = request.member
        is_simple = identity.generation_id < 0 and group.state is GroupState.EMPTY
        if is_simple and not group.is_fenced(identity.member_id, identity.group_instance_id):
            return ErrorCode.NONE
        error = check_member(group, identity)
        if error is not ErrorCode.NONE:
            return error
        if group.state is GroupState.COMPLETING_REBALANCE:
            # The member has the generation, but not its assignment in it.
            return ErrorCode.REBALANCE_IN_PROGRESS
        self._rebalances.restart_session(group, group.members[identity.member_id])
        return ErrorCode.NONE

    # -- deletion -------------------------------------------------------------------------------

    def delete_group(self, group: Group) -> ErrorCode:
        """Delete a group without members."""
        if group.state is not GroupState.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP
        group.transition(GroupState.DEAD, self._clock_ms())
        self.forget(group, lambda dead: dead.offsets.remove_all())
        return ErrorCode.NONE

    def delete_offsets(
        self, group: Group, names: Iterable[TopicPartition]
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Delete the offsets of partitions that the group is not subscribed to.

        Returns an error of the whole group, or the error of each partition.
        """
        is_empty = group.state is GroupState.EMPTY
        if not is_empty and group.protocol_type != CONSUMER:
            return ErrorCode.NON_EMPTY_GROUP, {}
        outcome = {
            name: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            if not is_empty and group.is_subscribed(name.topic)
            else ErrorCode.NONE
            for name in names
        }
        free = [name for name, error in outcome.items() if error is ErrorCode.NONE]
        if free:
            self.forget(group, lambda owner: owner.offsets.remove(free))
        return ErrorCode.NONE, outcome

    def expire(self, group: Group) -> int:
        """Delete expired offsets; return their number."""
        expiry = group.expiry(self._clock_ms(), self._options.offsets_retention_ms)
        if expiry is None:
            return 0
        return self.forget(group, lambda owner: owner.offsets.remove_due(expiry))

    def forget(self, group: Group, select: Select) -> int:
        """Remove offsets, and the group if nothing is left; return the number of offsets."""
        removed = select(group)
        is_used = group.pending_members or not group.offsets.is_empty
        if group.state is GroupState.EMPTY and not is_used:
            group.transition(GroupState.DEAD, self._clock_ms())
        tombstones: list[Record] = [offset_tombstone(group.group_id, name) for name in removed]
        if group.is_dead and group.generation_id > 0:
            # Generation 0 has no record: such a group only stored offsets.
            tombstones.append(group_tombstone(group.group_id))
        if tombstones:
            self._journal.append_unacknowledged(group.partition, tombstones)
        return len(removed)


def committed_offset(
    group: Group | None, name: TopicPartition, *, require_stable: bool
) -> tuple[ErrorCode, CommittedOffset | None]:
    """Return a group's committed offset of a partition.

    With ``require_stable`` the error is UNSTABLE_OFFSET_COMMIT, to be retried, while a commit that
    will replace it is in progress (KIP-447).
    """
    if group is None:
        return ErrorCode.NONE, None
    if require_stable and group.offsets.is_pending(name):
        return ErrorCode.UNSTABLE_OFFSET_COMMIT, None
    return ErrorCode.NONE, group.offsets.get(name)
