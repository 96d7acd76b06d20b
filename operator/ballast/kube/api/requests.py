"""One request to the API server: sent, retried when that can do no harm, its answer told apart."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import msgspec

from ballast.kube.api.errors import ApiUnavailable
from ballast.kube.api.resources import Document
from ballast.kube.api.responses import TOO_MANY_REQUESTS, Answer
from ballast.reassign.ports import Clock

PAUSES_S: Final = (0.2, 1.0)
"""Before the second and the third attempt, which is the last."""
UNAUTHORIZED: Final = 401
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked; ``body`` is JSON."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = JSON
    accept: str = JSON
    is_idempotent: bool = False
    """Whether it may be sent again when nobody knows what became of it."""

    def encoded(self) -> bytes | None:
        """Return the body as it is sent."""
        return None if self.body is None else msgspec.json.encode(self.body)


class Transport(Protocol):
    """Sends one request once."""

    async def exchange(self, request: Request) -> Answer:
        """Return the answer, whatever it is; raises `ApiUnavailable` when there is none."""

    def renew_credentials(self) -> None:
        """Read the credentials again: the server did not accept them."""


async def carry_out(transport: Transport, request: Request, clock: Clock) -> Document:
    """Send a request until it is answered for good, three times at most; return the document.

    429 was not carried out and is always sent again; an error of the server or of the connection
    leaves it open and is sent again when the request is idempotent; 401 once, with credentials
    read anew. Raises `ApiRefused`, `ApiUnavailable`.
    """
    may_renew = True
    for pause_s in (*PAUSES_S, None):
        try:
            answer = await transport.exchange(request)
        except ApiUnavailable:
            if pause_s is None or not request.is_idempotent:
                raise
            await clock.sleep(pause_s)
            continue
        if answer.is_success:
            return answer.document()
        error = answer.error()
        if answer.status == UNAUTHORIZED and may_renew:
            may_renew = False
            transport.renew_credentials()
        elif not _may_come_again(answer, error, request) or pause_s is None:
            raise error
        else:
            await clock.sleep(max(pause_s, answer.retry_after_s))
    raise error


def _may_come_again(answer: Answer, error: Exception, request: Request) -> bool:
    if answer.status == TOO_MANY_REQUESTS:
        return True
    return isinstance(error, ApiUnavailable) and request.is_idempotent
