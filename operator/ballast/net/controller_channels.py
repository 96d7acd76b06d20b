"""The channels of the elected controller: one queue, one task, one request in flight per broker.

Control requests are delivered to a broker in order and retried until the broker is removed. None is
skipped: the newest LeaderAndIsr reaches the broker, or its registration has ended. Any response
completes a request. A refusal (STALE_CONTROLLER_EPOCH, STALE_BROKER_EPOCH) is reported and not
retried, because the same bytes would be refused again.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ballast.controller.state.control_requests import ControlRequest
from ballast.controller.state.events import Event
from ballast.model.brokers import RegisteredBroker
from ballast.model.settings.fields import default_of
from ballast.net.client.channel import BrokerChannel, ChannelOptions
from ballast.net.control_messages import to_event, to_wire
from ballast.net.errors import NetError, QueueOverflow

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerChannelOptions:
    """Bounds of the controller's channels; times in seconds."""

    max_queued: int = 10_000
    """Control requests that may wait for one broker. One more, and the controller must resign."""
    retry_s: float = 0.1
    request_timeout_s: float = default_of("controller.socket.timeout.ms") / 1000
    connect_timeout_s: float = default_of("socket.connection.setup.timeout.ms") / 1000
    connect_timeout_max_s: float = default_of("socket.connection.setup.timeout.max.ms") / 1000


@dataclass(slots=True)
class _BrokerQueue:
    """The queue of one broker, and the task that delivers from it."""

    broker: RegisteredBroker
    channel: BrokerChannel
    queue: asyncio.Queue[ControlRequest]
    task: asyncio.Task[None] | None = field(default=None)
    sent: int = 0
    answered: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in the queues of all brokers."""

    queues: tuple[tuple[_BrokerQueue, int], ...]


class ControllerChannels:
    """Implements `controller.ports.BrokerChannels` over Kafka's protocol.

    ``on_event`` gets the responses, on the event loop. The tasks belong to ``tasks``: a request
    that cannot be encoded (a bug) ends the group, and the leadership with it.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        on_event: Callable[[Event], None],
        *,
        client_id: str,
        options: ControllerChannelOptions | None = None,
    ) -> None:
        self._tasks = tasks
        self._on_event = on_event
        self._client_id = client_id
        self._options = options or ControllerChannelOptions()
        self._brokers: dict[int, _BrokerQueue] = {}
        self._closed = False

    @property
    def queued(self) -> int:
        """Control requests that wait, for all brokers."""
        return sum(waiting.queue.qsize() for waiting in self._brokers.values())

    def add_broker(self, broker: RegisteredBroker) -> None:
        """Open a queue for a broker that has started; an existing queue is dropped."""
        self.remove_broker(broker.broker_id)
        if self._closed:
            return
        options = self._options
        waiting = _BrokerQueue(
            broker=broker,
            channel=BrokerChannel(
                broker.endpoint.host,
                broker.endpoint.port,
                ChannelOptions(
                    client_id=self._client_id,
                    max_in_flight=1,
                    request_timeout_s=options.request_timeout_s,
                    connect_timeout_s=options.connect_timeout_s,
                    connect_timeout_max_s=options.connect_timeout_max_s,
                    backoff_s=options.retry_s,
                    backoff_max_s=options.retry_s,
                ),
            ),
            queue=asyncio.Queue(options.max_queued),
        )
        self._brokers[broker.broker_id] = waiting
        waiting.task = self._tasks.create_task(
            self._deliver(waiting), name=f"control broker {broker.broker_id}"
        )

    def remove_broker(self, broker_id: int) -> None:
        """Drop the queue of a broker that is not alive any more, with its content."""
        waiting = self._brokers.pop(broker_id, None)
        if waiting is None:
            return
        waiting.channel.abort()
        if waiting.task is not None:
            waiting.task.cancel()

    def send(self, broker_id: int, request: ControlRequest) -> None:
        """Queue a request; without a queue for the broker it is dropped. Raises `QueueOverflow`."""
        waiting = self._brokers.get(broker_id)
        if waiting is None:
            return
        try:
            waiting.queue.put_nowait(request)
        except asyncio.QueueFull:
            raise QueueOverflow(
                f"{waiting.queue.qsize()} requests wait for broker {broker_id}"
            ) from None
        waiting.sent += 1

    def mark(self) -> Mark:
        """Return a mark behind everything that is queued now, for `has_passed`."""
        return Mark(tuple((waiting, waiting.sent) for waiting in self._brokers.values()))

    def has_passed(self, mark: Mark) -> bool:
        """Whether every broker has answered what was queued before the mark, or was removed."""
        return all(
            waiting.answered >= sent or self._brokers.get(waiting.broker.broker_id) is not waiting
            for waiting, sent in mark.queues
        )

    def close(self) -> None:
        """Drop all queues, in the order in which the brokers were added."""
        self._closed = True
        for broker_id in list(self._brokers):
            self.remove_broker(broker_id)

    async def _deliver(self, waiting: _BrokerQueue) -> None:
        """Deliver requests one at a time until the broker is removed."""
        while True:
            request = await waiting.queue.get()
            response = await self._response(waiting, request)
            waiting.answered += 1
            if self._brokers.get(waiting.broker.broker_id) is waiting:
                self._on_event(to_event(waiting.broker.broker_id, request, response))

    async def _response(self, waiting: _BrokerQueue, request: ControlRequest) -> Any:
        """Send a request until it is answered."""
        message, version = to_wire(request)
        attempt = 0
        while True:
            try:
                return await waiting.channel.request(message, version)
            except NetError as error:
                attempt += 1
                if attempt & (attempt - 1) == 0:  # Logs the 1st, 2nd, 4th, 8th ... failure.
                    log.warning(
                        "broker %d: %s not delivered (attempt %d): %s",
                        waiting.broker.broker_id,
                        type(request).__name__,
                        attempt,
                        error,
                    )
            await asyncio.sleep(self._options.retry_s)
