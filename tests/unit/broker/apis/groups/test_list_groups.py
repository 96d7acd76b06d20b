import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.list_groups import ListGroupsRequest
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, GROUP, commit, coordinate, join, stable


@pytest.mark.parametrize("version", range(5))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await stable(cluster)
        answer = await cluster.ask(1, ListGroupsRequest(), version)
        assert answer.error_code == 0
        state = "Stable" if version >= 4 else ""
        groups = [(g.group_id, g.protocol_type, g.group_state) for g in answer.groups]
        assert groups == [(GROUP, "consumer", state)]

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(
    ("states", "names"),
    [
        ((), [GROUP, "joining"]),
        (("Empty",), [GROUP]),
        (("CompletingRebalance", "Stable"), ["joining"]),
        (("Dead", "unheard of"), []),
    ],
)
def test_groups_in_certain_states(states: tuple[str, ...], names: list[str]) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        await commit(cluster, 1, 1)
        await join(cluster, group_id="joining")
        answer = await cluster.ask(1, ListGroupsRequest(states_filter=states), 4)
        assert [group.group_id for group in answer.groups] == names

    simulate(main, **AT_ONCE)


def test_groups_that_are_not_known_yet_are_told_of() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        cluster.brokers[1].context.groups.coordinator.begin_loading(7)
        answer = await cluster.ask(1, ListGroupsRequest(), 4)
        assert answer.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    simulate(main, **AT_ONCE)
