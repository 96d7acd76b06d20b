import pytest

from ballast.protocol.error_codes import ErrorCode
from tests.unit.broker.broker_cluster import Cluster, simulate
from tests.unit.broker.group_requests import AT_ONCE, coordinate, join, sync_request


@pytest.mark.parametrize("version", range(6))
def test_every_version(version: int) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1, 2)
        joined = await join(cluster)
        answer = await cluster.ask(1, sync_request(joined), version)
        assert (answer.error_code, answer.assignment) == (0, joined.member_id.encode())
        named = ("consumer", "range") if version >= 5 else (None, None)
        assert (answer.protocol_type, answer.protocol_name) == named

    simulate(main, **AT_ONCE)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"protocol_type": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": None}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_name": "sticky"}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"generation_id": 7}, ErrorCode.ILLEGAL_GENERATION),
        ({"member_id": "unknown"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"group_id": "unknown"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_what_is_refused(fields: dict[str, str], code: ErrorCode) -> None:
    async def main(cluster: Cluster) -> None:
        await coordinate(cluster, 1)
        joined = await join(cluster)
        answer = await cluster.ask(1, sync_request(joined, **fields), 5)
        assert (answer.error_code, answer.assignment) == (code, b"")

    simulate(main, **AT_ONCE)
