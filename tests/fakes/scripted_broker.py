"""A peer that speaks the protocol and answers as a test says."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ballast.net.api_versions import answer_api_versions
from ballast.net.server.requests import ReceivedRequest, ResponseParts
from ballast.net.server.server import Server
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.frames import encode_response_parts
from ballast.protocol.schema import Message

Answer = Callable[[Any], Message | Awaitable[Message | None] | None]
"""From a request to its response; None: never answered."""


class ScriptedBroker:
    """Serves what ``answers`` names, and remembers every request but ApiVersions."""

    def __init__(self, answers: Mapping[ApiKey, Answer]) -> None:
        self.answers = dict(answers)
        self.requests: list[tuple[float, Any]] = []
        """Loop seconds and request."""
        self.versions: list[int] = []
        self.client_ids: list[str | None] = []
        self.server: Server | None = None

    def messages(self, kind: type[Message] | None = None) -> list[Any]:
        return [m for _, m in self.requests if kind is None or isinstance(m, kind)]

    async def serve(self, port: int, host: str = "") -> None:
        """Listen until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            self.server = Server(self._handle, tasks=tasks)
            await self.server.start(host, port)
            try:
                await asyncio.Event().wait()
            finally:
                await self.server.close(grace_s=0)

    def _handle(self, received: ReceivedRequest) -> Any:
        header = received.header
        key = ApiKey(header.api_key)
        if key is ApiKey.API_VERSIONS:
            return answer_api_versions(header, received.body, [key, *self.answers])
        message = decode(APIS[key].request, header.api_version, received.body)
        self.requests.append((asyncio.get_running_loop().time(), message))
        self.versions.append(header.api_version)
        self.client_ids.append(header.client_id)
        return self._answer(key, message, header.correlation_id, header.api_version)

    async def _answer(
        self, key: ApiKey, message: Any, correlation_id: int, version: int
    ) -> ResponseParts:
        response: Any = self.answers[key](message)
        if isinstance(response, Awaitable):
            response = await response
        if response is None:
            await asyncio.Event().wait()
        return encode_response_parts(correlation_id, response, version)
