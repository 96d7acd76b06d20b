"""One term of an elected controller: from the election that was won to its end."""

import asyncio
import logging
from collections import Counter
from random import Random

from ballast.candidate.active_controller import ActiveController
from ballast.candidate.errors import Deposed, SessionEnded
from ballast.candidate.event_queue import EventQueue
from ballast.candidate.options import CandidateOptions
from ballast.candidate.requests import Request, Requests
from ballast.candidate.returning_brokers import ReturningBrokers
from ballast.controller.controller import Controller
from ballast.controller.state.events import AutoPreferredReplicaLeaderElection, Event
from ballast.controller.state.states import PartitionState
from ballast.net.controller_channels import ControllerChannels
from ballast.protocol.error_codes import ErrorCode
from ballast.zk.client import SessionEvent, ZooKeeperClient
from ballast.zk.controller_store.store import ControllerStore
from ballast.zk.election import Election, ElectionWon

log = logging.getLogger(__name__)

FIRST_REBALANCE_S = 5.0
"""Delay of the first election of preferred leaders in a term (Kafka)."""


class ControllerTerm:
    """Runs a `Controller` from one queue, events and requests strictly one at a time.

    It ends with the first exception: a fenced write, the end of the session, a bug. Then nothing
    more is read from the queue, and every request in it is answered with NOT_CONTROLLER.
    """

    def __init__(  # noqa: PLR0913  one argument per part that it binds together
        self,
        client: ZooKeeperClient,
        elected: ElectionWon,
        queue: EventQueue[Request],
        *,
        candidate_id: int,
        random: Random,
        options: CandidateOptions,
        returning: ReturningBrokers,
    ) -> None:
        self.elected = elected
        self.handled: Counter[str] = Counter()
        """Events and requests handled, by type."""
        self._client = client
        self._candidate_id = candidate_id
        self._random = random
        self._options = options
        self._returning = returning
        self._queue = queue
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._controller: Controller | None = None
        self._is_over = False

    # -- what the endpoint and the metrics ask -------------------------------------------------

    def submit(self, request: Request) -> None:
        """Queue a request; it is answered at once when that cannot be done."""
        if self._is_over:
            request.refuse(ErrorCode.NOT_CONTROLLER)
        elif not self._queue.put_request(request):
            request.refuse(ErrorCode.REQUEST_TIMED_OUT, "The controller is overloaded.")

    @property
    def queued(self) -> int:
        """Events and requests that wait."""
        return len(self._queue)

    @property
    def offline_partitions(self) -> int:
        """Partitions without a leader, but for those of topics being deleted."""
        if self._controller is None:
            return 0
        context = self._controller.context
        return sum(
            state is PartitionState.OFFLINE and not context.is_queued_for_deletion(partition)
            for partition, state in context.partition_states.items()
        )

    @property
    def reassigning_partitions(self) -> int:
        """Partitions with a reassignment pending."""
        return 0 if self._controller is None else len(self._controller.context.being_reassigned)

    # -- life ----------------------------------------------------------------------------------

    async def run(self, election: Election) -> None:
        """Lead until that ends; always raises, an `ExceptionGroup` or `CancelledError`."""
        async with asyncio.TaskGroup() as tasks:
            channels = ControllerChannels(
                tasks,
                self._on_event,
                client_id=f"controller-{self._candidate_id}",
                options=self._options.channels,
            )
            store = ControllerStore(self._client, self.elected, self._on_event)
            controller = self._controller = Controller(
                store,
                channels,
                controller_id=self._candidate_id,
                controller_epoch=self.elected.controller_epoch,
                options=self._options.controller,
            )
            requests = Requests(
                ActiveController(controller=controller, channels=channels, random=self._random),
                self._options.max_waiting,
            )
            tasks.create_task(self._guard(election), name="guard of /controller")
            tasks.create_task(self._fail(), name="end of the leadership")
            try:
                await self._returning.wait(self._client.session_timeout_s)
                await controller.failover()
                log.info("leading with controller epoch %d", self.elected.controller_epoch)
                tasks.create_task(self._rebalance(), name="rebalance of leaders")
                await self._work(controller, requests)
            finally:
                self._is_over = True
                store.close()
                channels.close()
                requests.refuse_all(ErrorCode.NOT_CONTROLLER)
                for item in self._queue.drain():
                    if isinstance(item, Request):
                        item.refuse(ErrorCode.NOT_CONTROLLER)

    async def _work(self, controller: Controller, requests: Requests) -> None:
        while True:
            item = await self._queue.get()
            self.handled[_name(item)] += 1
            if isinstance(item, Request):
                try:
                    await requests.carry_out(item)
                except BaseException:
                    item.refuse(ErrorCode.NOT_CONTROLLER)
                    raise
            else:
                await controller.handle(item)
            requests.look()
            while controller.context.failures:
                log.warning("%s", controller.context.failures.popleft())

    async def _rebalance(self) -> None:
        """Queue the check of preferred leaders at regular times."""
        options = self._options.controller
        delay_s = FIRST_REBALANCE_S
        while True:
            await asyncio.sleep(delay_s)
            if options.config.auto_leader_rebalance_enable:
                self._on_event(AutoPreferredReplicaLeaderElection())
            delay_s = float(options.config.leader_imbalance_check_interval_seconds)

    def _on_event(self, event: Event) -> None:
        """Queue an event; called by watches and answers, into which nothing may be raised."""
        if self._is_over:
            return
        try:
            self._queue.put_event(event)
        except Exception as error:  # noqa: BLE001 - handed to the leadership, which ends with it
            if not self._failure.done():
                self._failure.set_exception(error)
                self._failure.exception()  # the group may be ending already for another reason

    async def _fail(self) -> None:
        """End the group with the first failure outside its tasks."""
        await self._failure

    async def _guard(self, election: Election) -> None:
        """End the group when the session ends or /controller is no longer this candidate's."""
        stirred = asyncio.Event()
        ended = False

        def on_session_event(event: SessionEvent) -> None:
            nonlocal ended
            ended = ended or event is SessionEvent.EXPIRED
            stirred.set()

        self._client.on_session_event(on_session_event)
        while True:
            stirred.clear()
            info = await election.watch(lambda _: stirred.set())
            if info is None or info.controller_id != self._candidate_id:
                raise Deposed(f"/controller names {info and info.controller_id}")
            await stirred.wait()
            if ended:
                raise SessionEnded("the session with ZooKeeper has expired")


def _name(item: Event | Request) -> str:
    if isinstance(item, Request):
        return type(item.message).__name__
    return type(item).__name__
