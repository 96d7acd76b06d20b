"""Heartbeat, SyncGroup and LeaveGroup, with Kafka's order of checks."""

from collections.abc import Sequence

from ballast.coordinator.group import Group
from ballast.coordinator.ports import DelayedOperations
from ballast.coordinator.rebalance import Rebalances, sync_result
from ballast.coordinator.requests import (
    UNKNOWN_MEMBER_ID,
    MemberReference,
    SyncReply,
    SyncRequest,
    SyncResult,
)
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode


def check_member(group: Group, identity: MemberReference) -> ErrorCode:
    """Return why a request is not from a member of the present generation, or NONE."""
    if group.is_fenced(identity.member_id, identity.group_instance_id):
        return ErrorCode.FENCED_INSTANCE_ID
    if identity.member_id not in group.members:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if identity.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.NONE


class Memberships:
    """Answers requests of members."""

    def __init__(self, delays: DelayedOperations, rebalances: Rebalances) -> None:
        self._delays = delays
        self._rebalances = rebalances

    def heartbeat(self, group: Group, identity: MemberReference) -> ErrorCode:
        """Handle a heartbeat; REBALANCE_IN_PROGRESS makes the member join again."""
        error = check_member(group, identity)
        if error is not ErrorCode.NONE:
            return error
        self._rebalances.restart_session(group, group.members[identity.member_id])
        if group.state is GroupState.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    def sync(self, group: Group, request: SyncRequest, reply: SyncReply) -> None:
        """Answer with the member's assignment, once the leader has sent it."""
        error = check_member(group, request.member)
        if error is ErrorCode.NONE and (
            request.protocol_type not in (None, group.protocol_type)
            or request.protocol_name not in (None, group.protocol_name)
        ):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if error is not ErrorCode.NONE:
            reply(SyncResult(error=error))
            return
        member = group.members[request.member.member_id]
        if group.state is GroupState.PREPARING_REBALANCE:
            reply(SyncResult(error=ErrorCode.REBALANCE_IN_PROGRESS))
            return
        group.pending_sync_members.discard(member.member_id)
        self._delays.syncs_changed(group)
        if group.state is GroupState.STABLE:
            reply(sync_result(group, member))
            self._rebalances.restart_session(group, member)
            return
        group.await_sync(member, reply)
        if group.is_leader(member.member_id):
            self._rebalances.assign(group, request.assignments)

    def leave(self, group: Group, leaving: Sequence[MemberReference]) -> list[ErrorCode]:
        """Remove members that leave; return the error of each."""
        return [self._leave(group, identity) for identity in leaving]

    def _leave(self, group: Group, identity: MemberReference) -> ErrorCode:
        member_id, instance_id = identity.member_id, identity.group_instance_id
        if member_id != UNKNOWN_MEMBER_ID and group.is_fenced(member_id, instance_id):
            return ErrorCode.FENCED_INSTANCE_ID
        if group.is_pending(member_id):
            self._rebalances.remove_pending_member(group, member_id)
            return ErrorCode.NONE
        if instance_id is not None and instance_id in group.static_members:
            member_id = group.static_members[instance_id]
        member = group.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        self._rebalances.forget_member(group, member)
        self._rebalances.remove_member(group, member)
        return ErrorCode.NONE
