import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.leave_group import LeaveGroupRequest, MemberIdentity
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, GROUP, coordinate, stable

UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(3))
def test_one_leaves(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        joined = await stable(cluster)
        for member_id, code in (("x", UNKNOWN), (joined.member_id, 0), (joined.member_id, UNKNOWN)):
            request = LeaveGroupRequest(group_id=GROUP, member_id=member_id)
            assert (await cluster.ask(1, request, version)).error_code == code

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize("version", [3, 4])
def test_many_leave_at_once(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await stable(cluster, group_instance_id="i")
        members = (
            MemberIdentity(member_id="x"),
            MemberIdentity(member_id="", group_instance_id="i"),
        )
        answer = await cluster.ask(1, LeaveGroupRequest(group_id=GROUP, members=members), version)
        assert answer.error_code == 0
        outcomes = [(m.member_id, m.group_instance_id, m.error_code) for m in answer.members]
        assert outcomes == [("x", None, UNKNOWN), ("", "i", 0)]

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize("version", [2, 4])
def test_elsewhere_nobody_leaves(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await cluster.start(1)
        await cluster.tell_metadata()
        fields = (
            {"member_id": "x"} if version < 3 else {"members": (MemberIdentity(member_id="x"),)}
        )
        answer = await cluster.ask(1, LeaveGroupRequest(group_id=GROUP, **fields), version)
        assert (answer.error_code, answer.members) == (ErrorCode.NOT_COORDINATOR, ())

    simulate(main, **AT_ONCE)
