"""DescribeGroups (15), versions 0-5.

Behaviour:
* A group that does not exist is Dead, without an error. The metadata and assignments of members are
  returned for stable groups only.
* Nothing is authorised here, so the authorised operations are left unstated.

Version notes:
* v4 instance ids of static members.
"""

from ballast.broker.apis.context import BrokerContext, RequestInfo
from ballast.coordinator.group import Group
from ballast.coordinator.member import Member
from ballast.coordinator.states import GroupState
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


def handle(
    context: BrokerContext, request: DescribeGroupsRequest, _info: RequestInfo
) -> DescribeGroupsResponse:
    """Describe each group."""
    return DescribeGroupsResponse(groups=tuple(_describe(context, name) for name in request.groups))


def _describe(context: BrokerContext, group_id: str) -> DescribedGroup:
    coordinator = context.groups.coordinator
    error = coordinator.check(group_id, may_be_empty=True)
    if error is not ErrorCode.NONE:
        return DescribedGroup(error_code=error, group_id=group_id)
    group = coordinator.group(group_id)
    if group is None:
        return DescribedGroup(group_id=group_id, group_state=GroupState.DEAD)
    protocol = group.protocol_name if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=_members(group, protocol),
    )


def _members(group: Group, protocol: str | None) -> tuple[DescribedGroupMember, ...]:
    return tuple(_member(member, protocol) for member in group.members.values())


def _member(member: Member, protocol: str | None) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=b"" if protocol is None else member.metadata(protocol),
        member_assignment=b"" if protocol is None else member.assignment,
    )
