"""When a request is sent again, and when not."""

from dataclasses import dataclass, field

import pytest

from ballast.kube.api.errors import ApiRefused, ApiUnavailable
from ballast.kube.api.requests import Request, send_with_retries
from ballast.kube.api.responses import Response
from tests.fakes.clocks import YieldingClock

OK = Response(status=200, body=b'{"a": 1}')
NO_RESPONSE = None


@dataclass
class ScriptedTransport:
    responses: list[Response | None]
    sent: int = 0
    renewals: list[int] = field(default_factory=list)

    async def exchange(self, request: Request) -> Response:  # noqa: ARG002 - its responses are given
        response = self.responses[self.sent]
        self.sent += 1
        if response is None:
            raise ApiUnavailable("connection reset")
        return response

    async def renew_credentials(self) -> None:
        self.renewals.append(self.sent)


def refusal(status: int, **headers: str) -> Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, body=b'{"message": "no"}', headers=names)


@pytest.mark.parametrize(
    ("responses", "is_idempotent", "pauses"),
    [
        pytest.param([OK], False, [], id="at once"),
        pytest.param([NO_RESPONSE, NO_RESPONSE, OK], True, [0.2, 1.0], id="no response"),
        pytest.param([refusal(500), OK], True, [0.2], id="the server failed"),
        pytest.param([refusal(429), OK], False, [0.2], id="was not executed"),
        pytest.param([refusal(429, Retry_After="3"), OK], False, [3.0], id="retry later"),
        pytest.param([refusal(401), OK], False, [], id="new credentials"),
    ],
)
async def test_requests_that_succeed(
    responses: list[Response | None], is_idempotent: bool, pauses: list[float]
) -> None:
    clock = YieldingClock()
    transport = ScriptedTransport(responses)
    request = Request(method="GET", path="/x", is_idempotent=is_idempotent)
    assert await send_with_retries(transport, request, clock) == {"a": 1}
    assert transport.sent == len(responses)
    assert clock.slept == pauses


@pytest.mark.parametrize(
    ("responses", "is_idempotent", "sent", "kind"),
    [
        pytest.param([NO_RESPONSE], False, 1, ApiUnavailable, id="may have been executed"),
        pytest.param([refusal(503)], False, 1, ApiUnavailable, id="may have been, too"),
        pytest.param([NO_RESPONSE] * 3, True, 3, ApiUnavailable, id="no response at all"),
        pytest.param([refusal(429)] * 3, True, 3, ApiUnavailable, id="always too many"),
        pytest.param([refusal(422)], True, 1, ApiRefused, id="refused"),
        pytest.param([refusal(401), refusal(401)], True, 2, ApiRefused, id="unauthorized"),
    ],
)
async def test_requests_that_fail(
    responses: list[Response | None], is_idempotent: bool, sent: int, kind: type[Exception]
) -> None:
    transport = ScriptedTransport(responses)
    request = Request(method="PATCH", path="/x", is_idempotent=is_idempotent)
    with pytest.raises(kind):
        await send_with_retries(transport, request, YieldingClock())
    assert transport.sent == sent


async def test_credentials_are_renewed_once() -> None:
    transport = ScriptedTransport([refusal(401), refusal(401), OK])
    with pytest.raises(ApiRefused):
        await send_with_retries(transport, Request(method="GET", path="/"), YieldingClock())
    assert transport.renewals == [1]
