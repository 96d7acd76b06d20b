import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.describe_groups import DescribeGroupsRequest
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    OFFSETS_P0,
    commit,
    coordinate,
    join,
    stable,
)


@pytest.mark.parametrize("version", range(6))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        joined = await stable(cluster, group_instance_id="i")
        answer = await cluster.ask(1, DescribeGroupsRequest(groups=(GROUP, "none")), version)
        stable_group, dead = answer.groups
        assert (stable_group.error_code, stable_group.group_state) == (0, "Stable")
        assert (stable_group.protocol_type, stable_group.protocol_data) == ("consumer", "range")
        (member,) = stable_group.members
        assert (member.member_id, member.client_id) == (joined.member_id, "ballast")
        assert member.group_instance_id == ("i" if version >= 4 else None)
        assert member.member_metadata == bytes(6)
        assert member.member_assignment == joined.member_id.encode()
        assert (dead.error_code, dead.group_state, dead.members) == (0, "Dead", ())

    simulate(main, **AT_ONCE)


def test_what_is_not_settled_is_not_told() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await join(cluster)
        (group,) = (await cluster.ask(1, DescribeGroupsRequest(groups=(GROUP,)), 5)).groups
        assert (group.group_state, group.protocol_data) == ("CompletingRebalance", "")
        (member,) = group.members
        assert (member.member_metadata, member.member_assignment) == (b"", b"")

    simulate(main, **AT_ONCE)


def test_groups_elsewhere_and_without_members() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await commit(cluster, 1, 1)
        request = DescribeGroupsRequest(groups=(GROUP,))
        (group,) = (await cluster.ask(1, request, 5)).groups
        assert (group.error_code, group.group_state, group.protocol_type) == (0, "Empty", "")
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        (group,) = (await cluster.ask(1, request, 5)).groups
        assert (group.error_code, group.group_state) == (ErrorCode.NOT_COORDINATOR, "")

    simulate(main, **AT_ONCE)
