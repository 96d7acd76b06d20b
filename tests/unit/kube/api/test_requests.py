"""When a request is sent again, and when not."""

from dataclasses import dataclass, field

import pytest

from ballast.kube.api.errors import ApiRefused, ApiUnavailable
from ballast.kube.api.requests import Request, send_with_retries
from ballast.kube.api.responses import Response
from tests.fakes.clocks import YieldingClock

OK = Response(status=200, body=b'{"a": 1}')
GONE = None
"""No answer."""


@dataclass
class ScriptedTransport:
    answers: list[Response | None]
    sent: int = 0
    renewals: list[int] = field(default_factory=list)

    async def exchange(self, request: Request) -> Response:  # noqa: ARG002 - its answers are given
        answer = self.answers[self.sent]
        self.sent += 1
        if answer is None:
            raise ApiUnavailable("connection reset")
        return answer

    async def renew_credentials(self) -> None:
        self.renewals.append(self.sent)


def refusal(status: int, **headers: str) -> Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(status=status, body=b'{"message": "no"}', headers=names)


@pytest.mark.parametrize(
    ("answers", "is_idempotent", "pauses"),
    [
        pytest.param([OK], False, [], id="at once"),
        pytest.param([GONE, GONE, OK], True, [0.2, 1.0], id="no answer"),
        pytest.param([refusal(500), OK], True, [0.2], id="the server failed"),
        pytest.param([refusal(429), OK], False, [0.2], id="was not carried out"),
        pytest.param([refusal(429, Retry_After="3"), OK], False, [3.0], id="later, please"),
        pytest.param([refusal(401), OK], False, [], id="new credentials"),
    ],
)
async def test_answered_in_the_end(
    answers: list[Response | None], is_idempotent: bool, pauses: list[float]
) -> None:
    clock = YieldingClock()
    transport = ScriptedTransport(answers)
    request = Request(method="GET", path="/x", is_idempotent=is_idempotent)
    assert await send_with_retries(transport, request, clock) == {"a": 1}
    assert transport.sent == len(answers)
    assert clock.slept == pauses


@pytest.mark.parametrize(
    ("answers", "is_idempotent", "sent", "kind"),
    [
        pytest.param([GONE], False, 1, ApiUnavailable, id="may have been carried out"),
        pytest.param([refusal(503)], False, 1, ApiUnavailable, id="may have been, too"),
        pytest.param([GONE] * 3, True, 3, ApiUnavailable, id="never answered"),
        pytest.param([refusal(429)] * 3, True, 3, ApiUnavailable, id="always too many"),
        pytest.param([refusal(422)], True, 1, ApiRefused, id="refused"),
        pytest.param([refusal(401), refusal(401)], True, 2, ApiRefused, id="not let in"),
    ],
)
async def test_not_answered(
    answers: list[Response | None], is_idempotent: bool, sent: int, kind: type[Exception]
) -> None:
    transport = ScriptedTransport(answers)
    request = Request(method="PATCH", path="/x", is_idempotent=is_idempotent)
    with pytest.raises(kind):
        await send_with_retries(transport, request, YieldingClock())
    assert transport.sent == sent


async def test_credentials_are_renewed_once() -> None:
    transport = ScriptedTransport([refusal(401), refusal(401), OK])
    with pytest.raises(ApiRefused):
        await send_with_retries(transport, Request(method="GET", path="/"), YieldingClock())
    assert transport.renewals == [1]
