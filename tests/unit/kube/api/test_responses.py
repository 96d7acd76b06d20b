"""Documents and errors of responses."""

import json

import pytest

from ballast.kube.api.errors import (
    AlreadyExists,
    ApiRefused,
    ApiUnavailable,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    NotFound,
)
from ballast.kube.api.responses import MAX_RETRY_AFTER_S, Response, document_of


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (400, "BadRequest", ApiRefused),
        (401, "Unauthorized", ApiRefused),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "AlreadyExists", AlreadyExists),
        (409, "Conflict", Conflict),
        (410, "Expired", Expired),
        (422, "Invalid", Invalid),
        (429, "TooManyRequests", ApiUnavailable),
        (500, "InternalError", ApiUnavailable),
        (503, "", ApiUnavailable),
    ],
)
def test_errors(status: int, reason: str, kind: type[Exception]) -> None:
    body = json.dumps({"kind": "Status", "reason": reason, "message": "why"}).encode()
    response = Response(status=status, body=body)
    assert not response.is_success
    error = response.error()
    assert type(error) is kind
    assert "why" in str(error)
    if isinstance(error, ApiRefused):
        assert (error.status, error.reason) == (status, reason)


def test_an_error_in_plain_text() -> None:
    assert "no route" in str(Response(status=404, body=b"no route \xff").error())


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, 0), ("7", 7), ("900", MAX_RETRY_AFTER_S), ("Mon, 1 Jan", 0)]
)
def test_retry_after(header: str | None, seconds: float) -> None:
    headers = {} if header is None else {"Retry-After": header}
    assert Response(status=429, body=b"", headers=headers).retry_after_s == seconds


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"\xff"])
def test_a_response_that_is_not_an_object(body: bytes) -> None:
    with pytest.raises(ApiUnavailable):
        document_of(body)
