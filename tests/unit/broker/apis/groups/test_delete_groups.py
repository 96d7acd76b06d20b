import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.delete_groups import DeleteGroupsRequest
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import (
    AT_ONCE,
    GROUP,
    OFFSETS_P0,
    commit,
    coordinate,
    fetch_offset,
    loaded,
    stable,
)


@pytest.mark.parametrize("version", range(3))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await commit(cluster, 1, 1)
        await stable(cluster, group_id="used")
        names = (GROUP, "used", "none", GROUP)
        answer = await cluster.ask(1, DeleteGroupsRequest(groups_names=names), version)
        assert [(result.group_id, result.error_code) for result in answer.results] == [
            (GROUP, 0),
            ("used", ErrorCode.NON_EMPTY_GROUP),
            ("none", ErrorCode.GROUP_ID_NOT_FOUND),
        ]

    simulate(main, **AT_ONCE)


def test_a_deleted_group_is_gone_for_the_next_coordinator() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        await commit(cluster, 1, 1)
        await cluster.ask(1, DeleteGroupsRequest(groups_names=(GROUP,)), 2)
        follower = cluster.brokers[2].replicas.partitions[OFFSETS_P0].log
        await cluster.until(lambda: follower.log_end_offset == 2)
        await cluster.lead(OFFSETS_P0, 2, [1, 2])
        await loaded(cluster, 2)
        assert await fetch_offset(cluster, 2) == (0, -1)
        assert cluster.brokers[2].context.groups.coordinator.groups == ()

    simulate(main, **AT_ONCE)
