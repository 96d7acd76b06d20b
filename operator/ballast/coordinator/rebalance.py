"""Rebalances: members join, form a generation, and get their assignment.

Steps have the names of Kafka's ``GroupCoordinator``. `ballast.coordinator.ports.DelayedOperations`
waits between them.
"""

from collections.abc import Callable, Mapping
from functools import partial

from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.ports import DelayedOperations, GroupOptions, Journal
from ballast.coordinator.records import group_record
from ballast.coordinator.requests import JoinReply, JoinResult, SyncResult
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""Limit of a new member's first JoinGroup: it cannot send heartbeats, since it has no id yet."""

_STORE_ERRORS: Mapping[ErrorCode, ErrorCode] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""The error for members, by the error of appending the group's record."""


class Rebalances:
    """Moves groups through their states; errors of clients are error codes, not exceptions."""

    def __init__(
        self,
        options: GroupOptions,
        delays: DelayedOperations,
        journal: Journal,
        clock_ms: Callable[[], int],
    ) -> None:
        """Make it; ``clock_ms`` returns the time in ms since the epoch."""
        self._options = options
        self._delays = delays
        self._journal = journal
        self._clock_ms = clock_ms

    # -- start ----------------------------------------------------------------------------------

    def prepare(self, group: Group) -> None:
        """Start a rebalance: wait until all members have joined again."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._refuse_syncs(group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_sync_members.clear()
        self._delays.syncs_changed(group)
        was_empty = group.state is GroupState.EMPTY
        group.transition(GroupState.PREPARING_REBALANCE, self._clock_ms())
        if was_empty:
            delay_ms = self._options.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._gather(group, delay_ms, remaining_ms)
        else:
            self._expect_members(group)

    def prepare_if_possible(self, group: Group) -> None:
        """Start a rebalance unless one is being prepared already."""
        if group.can_rebalance:
            self.prepare(group)

    # -- members --------------------------------------------------------------------------------

    def add_member(self, group: Group, member: Member, reply: JoinReply) -> None:
        """Add a new member."""
        member.is_new = True
        if group.state is GroupState.PREPARING_REBALANCE and group.generation_id == 0:
            group.new_member_added = True
        member.join_reply = reply
        group.add(member)
        self._expect_heartbeat(group, member, NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.prepare_if_possible(group)

    def remove_member(self, group: Group, member: Member) -> None:
        """Remove a member and rebalance the others."""
        group.remove(member.member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            self._delays.members_changed(group)
        elif group.state in (GroupState.COMPLETING_REBALANCE, GroupState.STABLE):
            self.prepare(group)

    def forget_member(self, group: Group, member: Member) -> None:
        """Cancel the session of a member that leaves."""
        member.is_leaving = True
        self._delays.member_changed(group, member.member_id)

    def remove_pending_member(self, group: Group, member_id: str) -> None:
        group.pending_members.discard(member_id)
        self._delays.member_changed(group, member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            self._delays.members_changed(group)

    def restart_session(self, group: Group, member: Member) -> None:
        """Restart the member's session: a request of it has arrived."""
        self._expect_heartbeat(group, member, member.session_timeout_ms)

    def _expect_heartbeat(self, group: Group, member: Member, timeout_ms: int) -> None:
        member.heartbeat_satisfied = True
        self._delays.member_changed(group, member.member_id)
        member.heartbeat_satisfied = False
        self._delays.expect_heartbeat(
            group, member, timeout_ms, partial(self.remove_member, group, member)
        )

    def expect_pending_member(
        self, group: Group, member_id: str, client_host: str, timeout_ms: int
    ) -> None:
        """Give an id out, which must be used to join before time is up."""
        group.pending_members.add(member_id)
        self._delays.expect_pending_member(
            group,
            member_id,
            client_host,
            timeout_ms,
            partial(self.remove_pending_member, group, member_id),
        )

    # -- completion of delayed operations -------------------------------------------------------

    def _gather(self, group: Group, delay_ms: int, remaining_ms: int) -> None:
        done = partial(self._end_gathering, group, delay_ms, remaining_ms)
        self._delays.gather_members(group, delay_ms, done)

    def _end_gathering(self, group: Group, delay_ms: int, remaining_ms: int) -> None:
        """Extend the initial delay if a member has joined in it and time is left, else complete."""
        if group.new_member_added and remaining_ms > 0:
            group.new_member_added = False
            next_delay_ms = min(self._options.initial_rebalance_delay_ms, remaining_ms)
            self._gather(group, next_delay_ms, max(remaining_ms - delay_ms, 0))
        else:
            self._complete_join(group)

    def _expect_members(self, group: Group) -> None:
        done = partial(self._complete_join, group)
        self._delays.expect_members(group, group.rebalance_timeout_ms, done)

    def _complete_join(self, group: Group) -> None:
        """Start the next generation with the members that have joined.

        Other dynamic members are removed; static ones stay until their sessions expire.
        """
        for member in list(group.members.values()):
            if not member.is_awaiting_join and not member.is_static:
                self.forget_member(group, member)
                group.remove(member.member_id)
        if group.members and not group.elect_joined_leader():
            self._expect_members(group)
            return
        group.begin_generation(self._clock_ms())
        if group.state is GroupState.EMPTY:
            # If this record is lost, the next coordinator loads the previous generation, and its
            # members' sessions expire there.
            self._store(group, {}, _ignore)
            return
        for member in list(group.members.values()):
            group.answer_join(member, self.join_result(group, member.member_id))
            self.restart_session(group, member)
            member.is_new = False
            group.pending_sync_members.add(member.member_id)
        expired = partial(self._expire_syncs, group)
        self._delays.expect_syncs(group, group.rebalance_timeout_ms, expired)

    def _expire_syncs(self, group: Group) -> None:
        """Remove the members that have joined the generation and not sent SyncGroup."""
        for member_id in sorted(group.pending_sync_members):
            self.forget_member(group, group.members[member_id])
            group.remove(member_id)
        self.prepare(group)

    # -- responses ------------------------------------------------------------------------------

    def join_result(self, group: Group, member_id: str) -> JoinResult:
        """Return the generation as a member gets it."""
        return JoinResult(
            member_id=member_id,
            generation_id=group.generation_id,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            leader_id=group.leader_id or "",
            members=group.joined_members() if group.is_leader(member_id) else (),
        )

    def assign(self, group: Group, assignments: Mapping[str, bytes]) -> None:
        """Store the leader's assignment, then answer each member with its own."""
        generation_id = group.generation_id
        complete = {name: assignments.get(name, b"") for name in group.members}

        def stored(error: ErrorCode) -> None:
            # Another member may have joined or left meanwhile.
            if (
                group.state is not GroupState.COMPLETING_REBALANCE
                or generation_id != group.generation_id
            ):
                return
            if error is not ErrorCode.NONE:
                self._refuse_syncs(group, error)
                self.prepare_if_possible(group)
                return
            for member in group.members.values():
                member.assignment = complete[member.member_id]
            self._answer_syncs(group)
            group.transition(GroupState.STABLE, self._clock_ms())

        self._store(group, complete, stored)

    def store_members(self, group: Group, stored: Callable[[ErrorCode], None]) -> None:
        """Store the group with its present members."""
        assignments = {member.member_id: member.assignment for member in group.members.values()}
        self._store(group, assignments, stored)

    def _store(
        self,
        group: Group,
        assignments: Mapping[str, bytes],
        stored: Callable[[ErrorCode], None],
    ) -> None:
        record = group_record(group, assignments)

        def appended(error: ErrorCode, _log_offset: int) -> None:
            stored(_STORE_ERRORS.get(error, error))

        self._journal.append(group.partition, [record], appended)

    def _answer_syncs(self, group: Group) -> None:
        for member in list(group.members.values()):
            if group.answer_sync(member, sync_result(group, member)):
                # The session did not expire while the request was waiting.
                self.restart_session(group, member)

    def _refuse_syncs(self, group: Group, error: ErrorCode) -> None:
        for member in list(group.members.values()):
            member.assignment = b""
            if group.answer_sync(member, SyncResult(error=error)):
                self.restart_session(group, member)


def sync_result(group: Group, member: Member) -> SyncResult:
    """Return a member's assignment in the present generation."""
    return SyncResult(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=member.assignment,
    )


def _ignore(_error: ErrorCode) -> None:
    """Ignore the result of an append."""
