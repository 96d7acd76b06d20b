"""Responses of the API server: documents, and errors by HTTP status."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from ballast.kube.api.errors import (
    AlreadyExists,
    ApiRefused,
    ApiUnavailable,
    Conflict,
    Expired,
    Forbidden,
    Invalid,
    KubernetesError,
    NotFound,
)
from ballast.kube.api.resources import Document

MAX_RETRY_AFTER_S: Final = 10.0
MAX_MESSAGE: Final = 1_000

_KINDS: Final[Mapping[int, type[ApiRefused]]] = {
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Expired,
    422: Invalid,
}
TOO_MANY_REQUESTS: Final = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One complete response."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """Whether the request was executed."""
        return 200 <= self.status < 300

    @property
    def retry_after_s(self) -> float:
        """The server's ``Retry-After``, at most `MAX_RETRY_AFTER_S`; 0 if it sends none."""
        text = self.headers.get("Retry-After", "")
        return min(float(text), MAX_RETRY_AFTER_S) if text.isdecimal() else 0.0

    def document(self) -> Document:
        """Return the body; raises `ApiUnavailable` if it is not a JSON object."""
        return document_of(self.body)

    def error(self) -> KubernetesError:
        """Return the error that a response without success stands for."""
        try:
            status = self.document()
        except ApiUnavailable:
            text = self.body[:MAX_MESSAGE].decode(errors="replace").strip()
            status = {"message": text or "no reason given"}
        return error_of(self.status, status)


def document_of(body: bytes) -> Document:
    """Decode a JSON object; raises `ApiUnavailable` if it is not one."""
    try:
        document: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError) as error:
        raise ApiUnavailable(f"the response is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ApiUnavailable("the response is not a JSON object")
    return document


def error_of(code: int, status: Mapping[str, Any]) -> KubernetesError:
    """Return the error for an HTTP status code and its ``Status`` object."""
    reason = str(status.get("reason", ""))
    message = str(status.get("message", ""))[:MAX_MESSAGE]
    if code == TOO_MANY_REQUESTS or code >= 500:
        return ApiUnavailable(f"{code} {reason}: {message}")
    kind = _KINDS.get(code, ApiRefused)
    if reason == "AlreadyExists":
        kind = AlreadyExists
    return kind(message, status=code, reason=reason)
