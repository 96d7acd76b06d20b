"""An API server over real HTTP that replies what a test gives it, one by one."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from kubernetes.aio.client import Configuration

from ballast.kube.api.credentials import BEARER_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True, kw_only=True)
class Reply:
    """One answer: a document, or lines that come one by one and then stop or break off."""

    status: int = 200
    document: Any = None
    lines: Sequence[bytes] | None = None
    breaks: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


class HttpApi:
    """The server; `served` runs it."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.received: list[Received] = []
        self.token = "first"  # noqa: S105 - of no server
        self.url = ""

    async def login(self) -> Configuration:
        """Return a connection with the current token."""
        return Configuration(host=self.url, api_key={BEARER_TOKEN: f"Bearer {self.token}"})

    @asynccontextmanager
    async def served(self) -> AsyncIterator["HttpApi"]:
        """Serve on any free port."""
        runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.json() if request.can_read_body else None
        self.received.append(
            Received(
                method=request.method,
                path=request.rel_url.raw_path,
                query=dict(request.query),
                headers=dict(request.headers),
                body=body,
            )
        )
        if not self.replies:
            await asyncio.Event().wait()
        reply = self.replies.pop(0)
        if reply.lines is None and not reply.breaks:
            return web.json_response(reply.document, status=reply.status, headers=reply.headers)
        response = web.StreamResponse(status=reply.status)
        await response.prepare(request)
        for line in reply.lines or ():
            await response.write(line)
        if reply.breaks and request.transport is not None:
            request.transport.abort()
        return response
