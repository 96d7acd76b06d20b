"""The groups of the partitions that this broker leads: the entry point of all group requests.

A partition's groups are *loading* from the moment when the broker becomes its leader until its log
is read, then *owned* until it leads no more. Requests are served for owned partitions only.
"""

from collections.abc import Callable, Iterable, Sequence

from ballast.coordinator.commits import Commits
from ballast.coordinator.group import Group
from ballast.coordinator.joining import Joins
from ballast.coordinator.membership import Memberships
from ballast.coordinator.ports import DelayedOperations, GroupOptions, Journal
from ballast.coordinator.rebalance import Rebalances
from ballast.coordinator.requests import (
    UNKNOWN_MEMBER_ID,
    CommitReply,
    CommitRequest,
    JoinReply,
    JoinRequest,
    JoinResult,
    MemberReference,
    SyncReply,
    SyncRequest,
    SyncResult,
)
from ballast.coordinator.states import GroupState
from ballast.model.ids import TopicPartition
from ballast.protocol.error_codes import ErrorCode


class GroupCoordinator:
    """Answers requests of groups (Kafka ``GroupCoordinator``); not thread-safe."""

    def __init__(
        self,
        options: GroupOptions,
        *,
        delays: DelayedOperations,
        journal: Journal,
        partition_for: Callable[[str], int],
        clock_ms: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        """Make a coordinator without groups.

        ``partition_for`` returns the partition of ``__consumer_offsets`` that a group belongs to,
        ``clock_ms`` the time in ms since the epoch, ``new_id`` the unique part of a member id.
        """
        self._options = options
        self._delays = delays
        self._partition_for = partition_for
        self._clock_ms = clock_ms
        self.rebalances = Rebalances(options, delays, journal, clock_ms)
        self._joins = Joins(options, delays, self.rebalances, new_id)
        self._memberships = Memberships(delays, self.rebalances)
        self._commits = Commits(options, self.rebalances, journal, clock_ms)
        self._groups: dict[str, Group] = {}
        self._loading: set[int] = set()
        self._owned: set[int] = set()
        self._is_active = True

    # -- which groups ---------------------------------------------------------------------------

    @property
    def groups(self) -> Sequence[Group]:
        """The groups that are coordinated here."""
        return tuple(self._groups.values())

    @property
    def is_loading(self) -> bool:
        """Whether the groups of a partition are still being loaded."""
        return bool(self._loading)

    def begin_loading(self, partition: int) -> None:
        """Note that the broker leads a partition whose log is to be read."""
        self._owned.discard(partition)
        self._loading.add(partition)

    def finish_loading(self, partition: int, groups: Iterable[Group]) -> None:
        """Add the groups read from the partition's log and restart their members' sessions."""
        self._loading.remove(partition)
        self._owned.add(partition)
        for group in groups:
            self._groups[group.group_id] = group
            if len(group.members) > self._options.max_size:
                self.rebalances.prepare(group)
            for member in list(group.members.values()):
                self.rebalances.restart_session(group, member)

    def unload(self, partition: int) -> None:
        """Remove the groups of a partition that another broker leads now; refuse what waits."""
        self._loading.discard(partition)
        self._owned.discard(partition)
        for group in [group for group in self._groups.values() if group.partition == partition]:
            del self._groups[group.group_id]
            self._end(group)

    def _end(self, group: Group) -> None:
        group.transition(GroupState.DEAD, self._clock_ms())
        error = ErrorCode.NOT_COORDINATOR
        for member in list(group.members.values()):
            group.answer_join(member, JoinResult(error=error, member_id=member.member_id))
            group.answer_sync(member, SyncResult(error=error))
            self._delays.member_changed(group, member.member_id)
        for member_id in group.pending_members:
            self._delays.member_changed(group, member_id)
        self._delays.members_changed(group)
        self._delays.syncs_changed(group)

    def shut_down(self) -> None:
        """Refuse all waiting and all further requests."""
        self._is_active = False
        for partition in [*self._loading, *self._owned]:
            self.unload(partition)

    def check(self, group_id: str, *, may_be_empty: bool = False) -> ErrorCode:
        """Return why requests of a group cannot be served here now, or NONE.

        ``may_be_empty``: old clients stored offsets under the empty group id, which can still be
        read, described and deleted.
        """
        if not group_id and not may_be_empty:
            return ErrorCode.INVALID_GROUP_ID
        if not self._is_active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        partition = self._partition_for(group_id)
        if partition in self._loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if partition not in self._owned:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.NONE

    def group(self, group_id: str) -> Group | None:
        """Return a group that is coordinated here."""
        return self._groups.get(group_id)

    def _create(self, group_id: str) -> Group:
        group = self._groups[group_id] = Group(group_id, self._partition_for(group_id))
        return group

    # -- members --------------------------------------------------------------------------------

    def join(self, request: JoinRequest, reply: JoinReply) -> None:
        """Answer JoinGroup, at once or when the rebalance has completed."""
        options = self._options
        shortest, longest = options.min_session_timeout_ms, options.max_session_timeout_ms
        error = self.check(request.group_id)
        if error is ErrorCode.NONE and not shortest <= request.session_timeout_ms <= longest:
            error = ErrorCode.INVALID_SESSION_TIMEOUT
        group = self._groups.get(request.group_id)
        if error is ErrorCode.NONE and group is None:
            if request.member_id == UNKNOWN_MEMBER_ID:
                group = self._create(request.group_id)
            else:
                error = ErrorCode.UNKNOWN_MEMBER_ID
        if error is not ErrorCode.NONE or group is None:
            reply(JoinResult(error=error, member_id=request.member_id))
            return
        self._joins.join(group, request, reply)

    def sync(self, request: SyncRequest, reply: SyncReply) -> None:
        """Answer SyncGroup, at once or when the leader has sent the assignment."""
        error = self.check(request.group_id)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            # The previous coordinator's rebalance is lost; old clients understand this error.
            error = ErrorCode.REBALANCE_IN_PROGRESS
        group = self._groups.get(request.group_id)
        if error is ErrorCode.NONE and group is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        if error is not ErrorCode.NONE or group is None:
            reply(SyncResult(error=error))
            return
        self._memberships.sync(group, request, reply)

    def heartbeat(self, group_id: str, identity: MemberReference) -> ErrorCode:
        """Answer a heartbeat."""
        error = self.check(group_id)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            # Sessions do not expire while groups are loading.
            return ErrorCode.NONE
        if error is not ErrorCode.NONE:
            return error
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return self._memberships.heartbeat(group, identity)

    def leave(
        self, group_id: str, leaving: Sequence[MemberReference]
    ) -> tuple[ErrorCode, list[ErrorCode]]:
        """Remove members; return an error of the whole request, or the error of each member."""
        error = self.check(group_id)
        if error is not ErrorCode.NONE:
            return error, []
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.NONE, [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        return ErrorCode.NONE, self._memberships.leave(group, leaving)

    # -- offsets --------------------------------------------------------------------------------

    def commit(self, request: CommitRequest, reply: CommitReply) -> None:
        """Store offsets; ``reply`` is called when all in-sync replicas have them."""
        error = self.check(request.group_id, may_be_empty=True)
        group = self._groups.get(request.group_id)
        if error is ErrorCode.NONE and group is None:
            if request.member.generation_id < 0:
                group = self._create(request.group_id)
            else:
                error = ErrorCode.ILLEGAL_GENERATION
        if error is not ErrorCode.NONE or group is None:
            reply(dict.fromkeys(request.offsets, error))
            return
        self._commits.commit(group, request, reply)

    def delete_group(self, group_id: str) -> ErrorCode:
        """Delete a group without members, and its offsets."""
        error = self.check(group_id, may_be_empty=True)
        if error is not ErrorCode.NONE:
            return error
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        error = self._commits.delete_group(group)
        self._drop_dead(group)
        return error

    def delete_offsets(
        self, group_id: str, names: Iterable[TopicPartition]
    ) -> tuple[ErrorCode, dict[TopicPartition, ErrorCode]]:
        """Delete offsets; return an error of the group, or the error of each partition."""
        error = self.check(group_id)
        if error is not ErrorCode.NONE:
            return error, {}
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND, {}
        outcome = self._commits.delete_offsets(group, names)
        self._drop_dead(group)
        return outcome

    def expire_offsets(self) -> int:
        """Delete expired offsets, and groups with nothing left; return the number of offsets."""
        count = 0
        for group in self.groups:
            count += self._commits.expire(group)
            self._drop_dead(group)
        return count

    def forget_partitions(self, names: Sequence[TopicPartition]) -> None:
        """Delete the offsets of deleted partitions."""
        for group in self.groups:
            if any(group.offsets.get(name) is not None for name in names):
                self._commits.forget(group, lambda owner: owner.offsets.remove(names))
                self._drop_dead(group)

    def _drop_dead(self, group: Group) -> None:
        if group.is_dead and self._groups.get(group.group_id) is group:
            del self._groups[group.group_id]
