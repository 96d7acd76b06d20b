import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.heartbeat import HeartbeatRequest
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, GROUP, coordinate, stable


@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        joined = await stable(cluster)
        for generation_id, code in ((1, 0), (0, ErrorCode.ILLEGAL_GENERATION)):
            request = HeartbeatRequest(
                group_id=GROUP, generation_id=generation_id, member_id=joined.member_id
            )
            assert (await cluster.ask(1, request, version)).error_code == code

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(("instance_id", "code"), [("i", ErrorCode.FENCED_INSTANCE_ID), (None, 25)])
def test_another_static_members_name_is_fenced(instance_id: str | None, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await stable(cluster, group_instance_id="i")
        request = HeartbeatRequest(
            group_id=GROUP, generation_id=1, member_id="old", group_instance_id=instance_id
        )
        assert (await cluster.ask(1, request, 4)).error_code == code

    simulate(main, **AT_ONCE)
