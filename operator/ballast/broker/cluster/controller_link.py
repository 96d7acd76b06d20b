"""The connection to the elected controller, and requests that are forwarded to it.

Clients take any broker for the controller (Metadata names one). Their requests go, in the same
version, to the endpoint that the elected candidate publishes in ``/controller``.
"""

import asyncio
import logging
from typing import Final

from ballast.broker.cluster.zookeeper_session import ZooKeeperSession
from ballast.broker.errors import ControllerUnavailable
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.errors import ConnectFailed, NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.schema import Message
from ballast.zk.client import WatchEvent
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.controller import ControllerInfo

log = logging.getLogger(__name__)

CONTROLLER_WAIT_S: Final = 5.0
"""How long a request waits for a controller that is elected and reachable."""

ANSWER_GRACE_S: Final = 5.0
"""How much longer than the client's timeout the link waits for the controller's response."""

MAX_TIMEOUT_S: Final = 120.0
"""Bound of the timeout of a request."""

RETRY_S: Final = 0.1


class ControllerLink:
    """Follows ``/controller`` and holds the channel to the controller."""

    def __init__(self, session: ZooKeeperSession, client_id: str) -> None:
        self._session = session
        self._options = ChannelOptions(client_id=client_id, max_in_flight=32)
        self._info: ControllerInfo | None = None
        self._channel: BrokerChannel | None = None
        self._found = asyncio.Event()
        self._stale = asyncio.Event()

    @property
    def info(self) -> ControllerInfo | None:
        """The content of ``/controller`` as last read; None while there is none."""
        return self._info

    def reread(self) -> None:
        """Read ``/controller`` again: it changed, or a new session has begun."""
        self._stale.set()

    async def run(self) -> None:
        """Follow ``/controller`` until cancelled."""
        try:
            while True:
                self._stale.clear()
                store = await self._session.wait()
                try:
                    await self._take(await store.read_controller(self._changed))
                except ZooKeeperError as error:
                    log.info("/controller is read again: %r", error)
                    await asyncio.sleep(RETRY_S)
                    continue
                await self._stale.wait()
        finally:
            await self._take(None)

    def _changed(self, _event: WatchEvent) -> None:
        self.reread()

    async def _take(self, info: ControllerInfo | None) -> None:
        if info == self._info and info is not None:
            return
        self._info = info
        channel, self._channel = self._channel, None
        if info is not None and info.host is not None:
            self._channel = BrokerChannel(info.host, info.port, self._options)
            self._found.set()
        else:
            self._found.clear()
        if channel is not None:
            await channel.close()

    async def request(
        self, message: Message, version: int, timeout_ms: int, *, grace_s: float = ANSWER_GRACE_S
    ) -> Message:
        """Forward a request and return the controller's response.

        ``timeout_ms`` is the client's; the response may take ``grace_s`` longer. Raises
        `ControllerUnavailable`: with NOT_CONTROLLER when nothing was sent, with REQUEST_TIMED_OUT
        when the outcome is unknown.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + CONTROLLER_WAIT_S
        timeout_s = min(max(timeout_ms, 0) / 1000 + grace_s, MAX_TIMEOUT_S)
        while True:
            channel = await self._reach(deadline)
            try:
                answer = await channel.request(message, version, timeout_s=timeout_s)
            except ConnectFailed:
                await asyncio.sleep(RETRY_S)
            except NetError as error:
                raise ControllerUnavailable(ErrorCode.REQUEST_TIMED_OUT) from error
            else:
                assert isinstance(answer, Message)
                return answer

    async def _reach(self, deadline: float) -> BrokerChannel:
        try:
            async with asyncio.timeout_at(deadline):
                while self._channel is None:
                    await self._found.wait()
        except TimeoutError:
            raise ControllerUnavailable(ErrorCode.NOT_CONTROLLER) from None
        if asyncio.get_running_loop().time() >= deadline:
            raise ControllerUnavailable(ErrorCode.NOT_CONTROLLER)
        return self._channel
