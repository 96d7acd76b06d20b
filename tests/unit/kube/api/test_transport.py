"""HTTP to the API server, over a real socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from kubernetes.aio.client import Configuration

from ballast.kube.api.errors import ApiUnavailable, Expired, NoCredentials
from ballast.kube.api.requests import Request
from ballast.kube.api.transport import MAX_EVENT_BYTES, HttpTransport
from tests.fakes.http_api import HttpApi, Reply

GET = Request(method="GET", path="/api/v1/pods", query={"limit": "5"})


@asynccontextmanager
async def opened(api: HttpApi) -> AsyncIterator[HttpTransport]:
    async with api.served(), HttpTransport.opened(api.login) as transport:
        yield transport


async def lines(transport: HttpTransport) -> list[bytes]:
    return [line async for line in transport.lines(GET)]


async def test_a_request_and_its_answer() -> None:
    api = HttpApi(Reply(status=201, document={"a": 1}, headers={"Retry-After": "4"}))
    async with opened(api) as transport:
        assert not transport.has_answered
        request = Request(method="POST", path="/apis/x%2Fy", query={"a": "b c"}, body={"n": 1})
        answer = await transport.exchange(request)
        assert transport.has_answered
    assert (answer.status, answer.document(), answer.retry_after_s) == (201, {"a": 1}, 4.0)
    (received,) = api.received
    assert (received.method, received.path) == ("POST", "/apis/x%2Fy")
    assert (received.query, received.body) == ({"a": "b c"}, {"n": 1})
    assert received.headers["Authorization"] == "Bearer first"
    assert received.headers["Content-Type"] == "application/json"


async def test_a_refusal_is_an_answer() -> None:
    async with opened(HttpApi(Reply(status=404, document={"reason": "NotFound"}))) as transport:
        assert (await transport.exchange(GET)).status == 404


async def test_nobody_there() -> None:
    api = HttpApi()
    api.url = "http://127.0.0.1:1"
    async with HttpTransport.opened(api.login) as transport:
        with pytest.raises(ApiUnavailable, match="GET /api/v1/pods"):
            await transport.exchange(GET)
        assert not transport.has_answered


async def test_an_answer_that_breaks_off() -> None:
    async with opened(HttpApi(Reply(breaks=True, lines=[b'{"a"']))) as transport:
        with pytest.raises(ApiUnavailable):
            await transport.exchange(GET)


async def test_lines_as_they_come() -> None:
    parts = [b'{"a":', b" 1}\n{}\n{", b"}\n"]
    async with opened(HttpApi(Reply(lines=parts))) as transport:
        assert await lines(transport) == [b'{"a": 1}', b"{}", b"{}"]


async def test_lines_may_be_long_but_not_endless() -> None:
    long = b"x" * (3 * 1024 * 1024)
    async with opened(HttpApi(Reply(lines=[long, long, b"\n"]))) as transport:
        assert [len(line) for line in await lines(transport)] == [2 * len(long)]
    api = HttpApi(Reply(lines=[long] * (MAX_EVENT_BYTES // len(long) + 1)))
    async with opened(api) as transport:
        with pytest.raises(ApiUnavailable, match="too long"):
            await lines(transport)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=410, document={"reason": "Expired"}), Expired),
        (Reply(status=503, document={}), ApiUnavailable),
        (Reply(lines=[b"{}\n{"], breaks=True), ApiUnavailable),
    ],
)
async def test_lines_that_end_badly(reply: Reply, kind: type[Exception]) -> None:
    async with opened(HttpApi(reply)) as transport:
        with pytest.raises(kind):
            await lines(transport)


async def test_renewed_credentials() -> None:
    api = HttpApi(Reply(document={}), Reply(document={}))
    async with opened(api) as transport:
        await transport.exchange(GET)
        api.token = "second"  # noqa: S105 - of no server
        await transport.renew_credentials()
        await transport.exchange(GET)
    tokens = [received.headers["Authorization"] for received in api.received]
    assert tokens == ["Bearer first", "Bearer second"]


async def test_credentials_that_cannot_be_read_again_stay() -> None:
    api = HttpApi(Reply(document={}))
    logins = [api.login]

    async def login() -> Configuration:
        if not logins:
            raise NoCredentials("no file")
        return await logins.pop()()

    async with api.served(), HttpTransport.opened(login) as transport:
        await transport.renew_credentials()
        assert (await transport.exchange(GET)).status == 200
    assert api.received[0].headers["Authorization"] == "Bearer first"


async def test_a_token_that_cannot_be_renewed_before_a_request() -> None:
    api = HttpApi()

    def unreadable(_: Configuration) -> None:
        raise FileNotFoundError("no token")

    async def login() -> Configuration:
        configuration = await api.login()
        configuration.refresh_api_key_hook = unreadable
        return configuration

    async with api.served(), HttpTransport.opened(login) as transport:
        with pytest.raises(NoCredentials, match="no token"):
            await transport.exchange(GET)
    assert not api.received


async def test_a_request_may_be_cancelled() -> None:
    async with opened(HttpApi()) as transport, asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(transport.exchange(GET))
        await asyncio.sleep(0)
        asking.cancel()
