"""JoinGroup: which clients may join, in Kafka's order of checks (``GroupCoordinator``).

| sent by                       | group               | outcome                                    |
|-------------------------------|---------------------|--------------------------------------------|
| unknown, no instance id       | any                 | MEMBER_ID_REQUIRED with an id, from v4 on  |
| unknown                       | any                 | a new member; rebalance                    |
| known instance id, no id      | Stable, same vote   | a new id, the old assignment; no rebalance |
| known instance id, no id      | otherwise           | a new id; rebalance                        |
| pending id                    | any                 | a new member; rebalance                    |
| member                        | PreparingRebalance  | waits for the others                       |
| member, same protocols        | CompletingRebalance | the present generation again               |
| follower, same protocols      | Stable              | the present generation again               |
| leader, or other protocols    | the last two        | rebalance                                  |
"""

from collections.abc import Callable

from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.ports import DelayedOperations, GroupOptions
from ballast.coordinator.rebalance import Rebalances
from ballast.coordinator.requests import (
    UNKNOWN_MEMBER_ID,
    JoinReply,
    JoinRequest,
    JoinResult,
    Protocols,
)
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode


class Joins:
    """Answers JoinGroup, at once or when the rebalance has completed."""

    def __init__(
        self,
        options: GroupOptions,
        delays: DelayedOperations,
        rebalances: Rebalances,
        new_id: Callable[[], str],
    ) -> None:
        """Make it; ``new_id`` returns a suffix that makes member ids unique."""
        self._options = options
        self._delays = delays
        self._rebalances = rebalances
        self._new_id = new_id

    def join(self, group: Group, request: JoinRequest, reply: JoinReply) -> None:
        """Handle a JoinGroup of a group that is coordinated here."""
        if not self._has_room(group, request.member_id):
            group.remove(request.member_id)
            reply(JoinResult(error=ErrorCode.GROUP_MAX_SIZE_REACHED))
        else:
            names = [name for name, _ in request.protocols]
            if not group.supports(request.protocol_type, names):
                reply(_refusal(request, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
            elif request.member_id == UNKNOWN_MEMBER_ID:
                self._join_unknown(group, request, reply)
            elif group.is_pending(request.member_id) and request.group_instance_id is None:
                self._add(group, request, request.member_id, reply)
            else:
                self._join_known(group, request, reply)
        if group.state is GroupState.PREPARING_REBALANCE:
            self._delays.members_changed(group)

    def _has_room(self, group: Group, member_id: str) -> bool:
        """Whether ``group.max.size`` allows it; in a rebalance, waiting members are counted."""
        member = group.members.get(member_id)
        if group.state is GroupState.PREPARING_REBALANCE:
            is_awaiting = member is not None and member.is_awaiting_join
            return is_awaiting or group.awaiting_join_count < self._options.max_size
        return member is not None or len(group.members) < self._options.max_size

    def _join_unknown(self, group: Group, request: JoinRequest, reply: JoinReply) -> None:
        instance_id = request.group_instance_id
        prefix = request.client_id if instance_id is None else instance_id
        member_id = f"{prefix}-{self._new_id()}"
        if instance_id is not None and instance_id in group.static_members:
            self._replace_static(group, instance_id, member_id, request.protocols, reply)
        elif request.requires_known_member_id:
            timeout_ms = request.session_timeout_ms
            self._rebalances.expect_pending_member(
                group, member_id, request.client_host, timeout_ms
            )
            reply(JoinResult(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id))
        else:
            self._add(group, request, member_id, reply)

    def _add(self, group: Group, request: JoinRequest, member_id: str, reply: JoinReply) -> None:
        member = Member(
            member_id,
            group_instance_id=request.group_instance_id,
            client_id=request.client_id,
            client_host=request.client_host,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=request.protocols,
        )
        self._rebalances.add_member(group, member, reply)

    def _join_known(self, group: Group, request: JoinRequest, reply: JoinReply) -> None:
        instance_id, member_id = request.group_instance_id, request.member_id
        if group.is_fenced(member_id, instance_id):
            reply(_refusal(request, ErrorCode.FENCED_INSTANCE_ID))
            return
        member = group.members.get(member_id)
        if member is None or (instance_id is not None and instance_id not in group.static_members):
            reply(_refusal(request, ErrorCode.UNKNOWN_MEMBER_ID))
            return
        is_settled = group.state is GroupState.COMPLETING_REBALANCE or (
            group.state is GroupState.STABLE and not group.is_leader(member_id)
        )
        if is_settled and member.protocols == request.protocols:
            # It may have missed the first answer.
            reply(self._rebalances.join_result(group, member_id))
            return
        # A leader joins again to compute another assignment: topics may have changed.
        group.await_join(member, request.protocols, reply)
        self._rebalances.prepare_if_possible(group)

    def _replace_static(
        self,
        group: Group,
        instance_id: str,
        member_id: str,
        protocols: Protocols,
        reply: JoinReply,
    ) -> None:
        """Give a static member that has restarted a new id."""
        leader_id, old_id = group.leader_id, group.static_members[instance_id]
        member = group.replace_static(instance_id, member_id)
        old_protocols = member.protocols
        self._rebalances.restart_session(group, member)
        group.await_join(member, protocols, reply)
        if group.state is GroupState.COMPLETING_REBALANCE:
            # The leader may have the old id, and would assign nothing to the new one.
            self._rebalances.prepare(group)
        elif group.state is GroupState.STABLE:
            if group.protocol_name != group.select_protocol():
                self._rebalances.prepare(group)
            else:
                self._store_replaced(group, member, _Replaced(old_id, leader_id, old_protocols))

    def _store_replaced(self, group: Group, member: Member, before: "_Replaced") -> None:
        """Store the new id before it is answered; restore the old one if that fails.

        The response has the previous leader id, so that a leader that has restarted does not
        compute an assignment: a stable group would not distribute it.
        """
        member_id = member.member_id

        def stored(error: ErrorCode) -> None:
            result = JoinResult(
                error=error,
                member_id=UNKNOWN_MEMBER_ID if error else member_id,
                generation_id=group.generation_id,
                protocol_type=group.protocol_type,
                protocol_name=group.protocol_name,
                leader_id=before.leader_id or "",
            )
            group.answer_join(member, result)
            if error and group.members.get(member_id) is member and not group.is_dead:
                assert member.group_instance_id is not None, "only static members are replaced"
                member.protocols = before.protocols
                group.replace_static(member.group_instance_id, before.member_id)
                self._rebalances.restart_session(group, member)

        self._rebalances.store_members(group, stored)


class _Replaced:
    """The fields of a static member before it was replaced."""

    __slots__ = ("leader_id", "member_id", "protocols")

    def __init__(self, member_id: str, leader_id: str | None, protocols: Protocols) -> None:
        self.member_id = member_id
        self.leader_id = leader_id
        self.protocols = protocols


def _refusal(request: JoinRequest, error: ErrorCode) -> JoinResult:
    return JoinResult(error=error, member_id=request.member_id)
