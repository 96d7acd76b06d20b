import asyncio

import pytest

from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.groups.join_group import JoinGroupRequestProtocol
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, GROUP, coordinate, join, join_request


@pytest.mark.parametrize("version", range(8))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await join(cluster, version=version)
        assert (answer.error_code, answer.generation_id) == (0, 1)
        assert answer.protocol_name == "range"
        assert answer.protocol_type == ("consumer" if version >= 7 else None)
        assert answer.leader == answer.member_id
        assert [member.member_id for member in answer.members] == [answer.member_id]
        group = cluster.brokers[1].context.groups.coordinator.group(GROUP)
        assert group is not None
        (member,) = group.members.values()
        assert member.session_timeout_ms == 10_000
        assert member.rebalance_timeout_ms == (10_000 if version == 0 else 5_000)
        assert member.client_id == "ballast"
        assert member.client_host.startswith("/")

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(
    ("version", "code"),
    [(3, 0), (4, ErrorCode.MEMBER_ID_REQUIRED), (7, ErrorCode.MEMBER_ID_REQUIRED)],
)
def test_from_version_4_on_members_are_given_an_id_first(version: int, code: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await cluster.ask(1, join_request(), version)
        assert answer.error_code == code
        assert answer.member_id.startswith("ballast-")

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(("version", "name"), [(6, ""), (7, None)])
def test_a_refusal_names_no_protocol(version: int, name: str | None) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await cluster.ask(1, join_request("unknown"), version)
        assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert (answer.protocol_name, answer.generation_id) == (name, -1)
        assert (answer.leader, answer.member_id) == ("", "unknown")

    simulate(main, **AT_ONCE)


def test_static_members_need_no_id_and_are_shown() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        answer = await join(cluster, group_instance_id="i")
        assert answer.error_code == 0
        assert [member.group_instance_id for member in answer.members] == ["i"]

    simulate(main, **AT_ONCE)


def test_a_protocol_that_is_named_twice_counts_once() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        protocols = tuple(
            JoinGroupRequestProtocol(name=name, metadata=metadata)
            for name, metadata in (("a", b"1"), ("b", b"2"), ("a", b"3"))
        )
        answer = await join(cluster, protocols=protocols)
        assert (answer.protocol_name, answer.members[0].metadata) == ("a", b"1")

    simulate(main, **AT_ONCE)


def test_members_are_answered_together() -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(cluster.ask(1, join_request(), 3))
            second = tasks.create_task(cluster.ask(1, join_request(), 3))
        assert first.result().generation_id == second.result().generation_id == 1
        sizes = sorted(len(task.result().members) for task in (first, second))
        assert sizes == [0, 2]

    simulate(main, **{**AT_ONCE, "group_initial_rebalance_delay_ms": "100"})
