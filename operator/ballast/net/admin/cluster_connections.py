"""A client's connections to a cluster: live brokers, choice of the broker, retries.

A request goes to any broker, to one broker, or to the broker that Metadata names as controller (the
controller itself with Apache Kafka, or a Ballast broker that forwards). Every call ends within
``call_timeout_s``; the pauses between retries begin with ``backoff_s`` and double.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.client.client_connection import LastResponse
from ballast.net.errors import ConnectFailed, NetError, UnsupportedByPeer
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.cluster.metadata import MetadataRequest, MetadataResponse
from ballast.protocol.schema import Message
from ballast.reassign.ports import BrokerUnavailable, ClusterUnavailable

Address = tuple[str, int]
Codes = Callable[[Any], Collection[int]]
"""Returns the error codes in a response that may contain NOT_CONTROLLER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOptions:
    """Bounds of an admin client; times in seconds."""

    client_id: str = "ballast-admin"
    request_timeout_s: float = 30.0
    connect_timeout_s: float = 5.0
    call_timeout_s: float = 60.0
    """Of one call with its retries."""
    attempts: int = 8
    backoff_s: float = 0.1
    backoff_max_s: float = 2.0


def parse_bootstrap_servers(text: str) -> tuple[Address, ...]:
    """Return the addresses in ``host:port,[::1]:port``; raises `ValueError`."""
    addresses = []
    for part in text.split(","):
        host, colon, port = part.strip().rpartition(":")
        if not colon or not host or not port.isascii() or not port.isdecimal():
            raise ValueError(f"not host:port: {part.strip()!r}")
        if not 0 < int(port) <= 65535:
            raise ValueError(f"not a port: {port}")
        addresses.append((host.strip("[]"), int(port)))
    return tuple(addresses)


class ClusterConnections:
    """Channels to the brokers of one cluster."""

    def __init__(self, bootstrap_servers: Sequence[Address], options: AdminOptions) -> None:
        if not bootstrap_servers:
            raise ValueError("no bootstrap servers")
        self.options = options
        self._bootstrap_servers = tuple(bootstrap_servers)
        self._channels: dict[Address, BrokerChannel] = {}
        self._brokers: dict[int, Address] = {}
        self._controller_id = -1
        self._last_answered: Address | None = None
        """Asked first next time, so that the state that is read does not go back in time."""

    async def close(self) -> None:
        """Close every connection."""
        channels, self._channels = self._channels, {}
        for channel in channels.values():
            channel.abort()

    async def ask_any(self, message: Message, last: LastResponse | None = None) -> Any:
        """Return the response of any broker; raises `ClusterUnavailable`."""
        async with self._bounded():
            failure: Exception | None = None
            async for _ in self._attempts():
                try:
                    return await self._ask_one_of_all(message, last)
                except NetError as error:
                    failure = error
            raise ClusterUnavailable(f"no broker answered: {failure}") from failure

    async def ask_broker(self, broker_id: int, message: Message) -> Any:
        """Return a broker's response; raises `BrokerUnavailable`, `ClusterUnavailable`."""
        async with self._bounded(broker_id):
            failure: Exception | None = None
            async for _ in self._attempts():
                if failure is not None or broker_id not in self._brokers:
                    await self.ask_metadata(MetadataRequest(topics=()))
                address = self._brokers.get(broker_id)
                if address is None:
                    raise BrokerUnavailable(f"broker {broker_id} is not alive")
                try:
                    return await self._channel(address).request(message)
                except UnsupportedByPeer as error:
                    raise BrokerUnavailable(str(error)) from error
                except NetError as error:
                    failure = error
            raise BrokerUnavailable(f"broker {broker_id}: {failure}") from failure

    async def ask_controller(
        self,
        message: Message,
        codes: Codes,
        *,
        repeatable: bool = True,
        timeout_s: float | None = None,
    ) -> Any:
        """Return the controller's response; raises `ClusterUnavailable`.

        A request that is not ``repeatable`` is repeated only if it was not executed: nothing was
        sent, or the response was NOT_CONTROLLER.
        """
        async with self._bounded():
            failure: Exception | str | None = None
            async for _ in self._attempts():
                try:
                    channel = await self._controller_channel(refresh=failure is not None)
                    response = await channel.request(message, timeout_s=timeout_s)
                except UnsupportedByPeer as error:
                    raise ClusterUnavailable(str(error)) from error
                except ConnectFailed as error:
                    failure = error
                except NetError as error:
                    if not repeatable:
                        raise ClusterUnavailable(f"outcome unknown: {error}") from error
                    failure = error
                else:
                    if ErrorCode.NOT_CONTROLLER not in codes(response):
                        return response
                    failure = "NOT_CONTROLLER"
            raise ClusterUnavailable(f"no controller answered: {failure}")

    async def ask_metadata(
        self, message: MetadataRequest, last: LastResponse | None = None
    ) -> MetadataResponse:
        """Return Metadata and update the live brokers; raises `ClusterUnavailable`.

        ``last`` belongs to this request, if it is sent again and again.
        """
        response: MetadataResponse = await self.ask_any(message, last)
        self._brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        self._controller_id = response.controller_id
        in_use = {*self._brokers.values(), *self._bootstrap_servers}
        for address in [known for known in self._channels if known not in in_use]:
            self._channels.pop(address).abort()
        return response

    async def _controller_channel(self, *, refresh: bool) -> BrokerChannel:
        if refresh or self._controller_id not in self._brokers:
            await self.ask_metadata(MetadataRequest(topics=()))
        address = self._brokers.get(self._controller_id)
        if address is None:
            raise ConnectFailed("Metadata names no controller")
        return self._channel(address)

    async def _ask_one_of_all(self, message: Message, last: LastResponse | None) -> Any:
        """Ask one broker after another until one answers, first the one that did last."""
        addresses = dict.fromkeys((*self._brokers.values(), *self._bootstrap_servers))
        failure: NetError = ConnectFailed("no broker is known")
        for address in sorted(addresses, key=self._preference):
            try:
                response = await self._channel(address).request(message, last=last)
            except NetError as error:
                failure = error
            else:
                self._last_answered = address
                return response
        raise failure

    def _preference(self, address: Address) -> tuple[bool, bool]:
        return address != self._last_answered, not self._is_connected(address)

    def _is_connected(self, address: Address) -> bool:
        return address in self._channels and self._channels[address].is_connected

    def _channel(self, address: Address) -> BrokerChannel:
        channel = self._channels.get(address)
        if channel is None:
            options = ChannelOptions(
                client_id=self.options.client_id,
                request_timeout_s=self.options.request_timeout_s,
                connect_timeout_s=self.options.connect_timeout_s,
            )
            channel = self._channels[address] = BrokerChannel(*address, options)
        return channel

    async def _attempts(self) -> AsyncIterator[int]:
        """Count attempts, with a pause before each but the first."""
        pause_s = self.options.backoff_s
        for attempt in range(self.options.attempts):
            if attempt:
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, self.options.backoff_max_s)
            yield attempt

    @asynccontextmanager
    async def _bounded(self, broker_id: int | None = None) -> AsyncIterator[None]:
        limit_s = self.options.call_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                yield
        except TimeoutError:
            if broker_id is not None:
                raise BrokerUnavailable(f"broker {broker_id}: no answer in {limit_s} s") from None
            raise ClusterUnavailable(f"no answer in {limit_s} s") from None
