"""One API request: sent, sent again if it is idempotent or was throttled, its status an error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from ballast.kube.api.errors import ApiUnavailable
from ballast.kube.api.resources import Document
from ballast.kube.api.responses import TOO_MANY_REQUESTS, Response
from ballast.reassign.ports import Clock

RETRY_DELAYS_S: Final = (0.2, 1.0)
"""Before the second and the third attempt, which is the last."""
UNAUTHORIZED: Final = 401
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; ``body`` is encoded as JSON."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = JSON
    accept: str = JSON
    is_idempotent: bool = False
    """Whether it may be sent again when its outcome is unknown."""


class Transport(Protocol):
    """Sends one request once."""

    async def exchange(self, request: Request) -> Response:
        """Return the response, whatever its status; raises `ApiUnavailable` if there is none."""

    async def renew_credentials(self) -> None:
        """Read the credentials again: the server did not accept the current ones."""


async def send_with_retries(transport: Transport, request: Request, clock: Clock) -> Document:
    """Send a request up to three times and return the document of the response.

    A request with status 429 was not executed and is always sent again. After a failure of the
    server or of the connection the outcome is unknown: only an idempotent request is sent again.
    Status 401 renews the credentials, once. Raises `ApiRefused`, `ApiUnavailable`.
    """
    may_renew = True
    for delay_s in (*RETRY_DELAYS_S, None):
        try:
            response = await transport.exchange(request)
        except ApiUnavailable:
            if delay_s is None or not request.is_idempotent:
                raise
            await clock.sleep(delay_s)
            continue
        if response.is_success:
            return response.document()
        error = response.error()
        if response.status == UNAUTHORIZED and may_renew:
            may_renew = False
            await transport.renew_credentials()
        elif not _is_retriable(response, error, request) or delay_s is None:
            raise error
        else:
            await clock.sleep(max(delay_s, response.retry_after_s))
    raise error


def _is_retriable(response: Response, error: Exception, request: Request) -> bool:
    if response.status == TOO_MANY_REQUESTS:
        return True
    return isinstance(error, ApiUnavailable) and request.is_idempotent
