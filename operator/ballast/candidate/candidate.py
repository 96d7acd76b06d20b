"""A controller candidate: runs for controller, leads while elected, runs again.

session ──► watch /controller ──► run ──► lost: wait for the watch, run again
▲                               └────► elected: failover, one queue ──► something ended it
└── after expiry or an error of ZooKeeper: a new session ◄── resign ◄──────┘

While ZooKeeper does not respond, the session and the term continue: both may still be valid when it
is back. After the session timeout without a response, another candidate may be the controller.
Versions fence every write, as always; requests are refused at once with NOT_CONTROLLER, so that
none is answered from a context that may be out of date.
"""

import asyncio
import errno
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import Final

from prometheus_client import Histogram

from ballast.candidate.controller_term import ControllerTerm
from ballast.candidate.errors import Deposed, PathTaken, SessionEnded
from ballast.candidate.event_queue import EventQueue
from ballast.candidate.options import CandidateOptions
from ballast.candidate.requests import CANDIDATE_APIS, SERVED, Request, encoded
from ballast.candidate.returning_brokers import ReturningBrokers
from ballast.controller.errors import ControllerMoved, StoreUnavailable
from ballast.net.api_versions import answer_api_versions
from ballast.net.refusals import refuse
from ballast.net.server.requests import ReceivedRequest, ResponseParts
from ballast.net.server.server import Server
from ballast.protocol.api_keys import APIS, ApiKey
from ballast.protocol.codec import decode
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import UnknownApiKey
from ballast.zk import ensembles
from ballast.zk.client import ClientFactory, SessionEvent, ZooKeeperClient
from ballast.zk.election import Election, ElectionLost, ElectionWon
from ballast.zk.errors import ZooKeeperError
from ballast.znodes.errors import ZnodeError

log = logging.getLogger(__name__)

WAIT_BUCKETS_S: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0)


class Candidate:
    """One candidate for the controller of one cluster.

    ``listen`` is where its endpoint listens (port 0 = any free one).
    """

    def __init__(
        self,
        candidate_id: int,
        client_factory: ClientFactory,
        *,
        listen: tuple[str, int],
        random: Random,
        wall_clock_ms: Callable[[], int],
        options: CandidateOptions | None = None,
    ) -> None:
        self.candidate_id = candidate_id
        self.options = options or CandidateOptions()
        self.handled: Counter[str] = Counter()
        """Events and requests handled by past terms, by type."""
        self.waits = Histogram(
            "ballast_event_queue_wait_seconds",
            "For how long events and requests waited for the controller.",
            buckets=WAIT_BUCKETS_S,
            registry=None,
        )
        """Of all terms."""
        self.elections_won = 0
        self.failures = 0
        """Terms that ended by an unexpected error, and paths with another owner."""
        self._failures_in_a_row = 0
        self.lost_to: ElectionLost | None = None
        """The controller that won over this candidate last; None while it leads, or knows none."""
        self.elected_ms: int | None = None
        """When it was elected last, by its own wall clock."""
        self.session_event: SessionEvent | None = None
        """The last event of the session with ZooKeeper; None before the first one."""
        self._client_factory = client_factory
        self._listen = listen
        self._random = random
        self._wall_clock_ms = wall_clock_ms
        self._term: ControllerTerm | None = None
        self._client: ZooKeeperClient | None = None
        self._clock: Callable[[], float] | None = None
        self._returning = ReturningBrokers()
        self._server: Server | None = None

    @property
    def controller_term(self) -> ControllerTerm | None:
        """The present term, or None."""
        return self._term

    @property
    def is_silent(self) -> bool:
        """Whether ZooKeeper has not responded for the session timeout. Safe in any thread."""
        client, clock = self._client, self._clock
        return client is None or clock is None or client.is_silent(clock())

    @property
    def is_active(self) -> bool:
        """Whether this candidate is the controller, as ZooKeeper had it a session timeout ago.

        Safe in any thread.
        """
        return self._term is not None and not self.is_silent

    @property
    def port(self) -> int:
        """The port that the endpoint listens on; 0 before `run` has opened it."""
        return self._server.port if self._server is not None else 0

    async def run(self) -> None:
        """Serve and run for controller until cancelled; raises `OSError` if it cannot listen."""
        self._clock = asyncio.get_running_loop().time
        async with asyncio.TaskGroup() as tasks:
            server = Server(self.handle, tasks=tasks, limits=self.options.server)
            host, port = self._listen
            await start_at_first_free(server.start, host, (port, *self.options.further_ports))
            self._server = server
            try:
                await self._sessions(tasks)
            finally:
                self._server = None
                await server.close(grace_s=1.0)

    # -- the endpoint --------------------------------------------------------------------------

    def handle(
        self, received: ReceivedRequest
    ) -> ResponseParts | asyncio.Future[ResponseParts | None]:
        """Answer one request, now or when the controller has dealt with it."""
        header = received.header
        if header.api_key == ApiKey.API_VERSIONS:
            return answer_api_versions(header, received.body, SERVED)
        key = ApiKey(header.api_key)
        api = CANDIDATE_APIS.get(key)
        if api is None:
            raise UnknownApiKey(key)
        message = decode(APIS[key].request, header.api_version, received.body)
        term = self._term
        if term is None or self.is_silent:
            error = ErrorCode.NOT_CONTROLLER
            return encoded(header, refuse(message, header.api_version, error))
        answered = asyncio.get_running_loop().create_future()
        term.submit(Request(api, header, message, answered))
        return answered

    # -- sessions, elections, leaderships ------------------------------------------------------

    async def _sessions(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            client = self._client = self._client_factory()
            client.on_session_event(self._note_session)
            following: asyncio.Task[None] | None = None
            try:
                await client.start()
                following = tasks.create_task(self._returning.follow(client))
                await self._run_in(client)
            except (ZooKeeperError, ZnodeError) as error:
                log.warning("new session, because of %s: %s", type(error).__name__, error)
            except (StoreUnavailable, SessionEnded) as error:
                log.warning("new session, because of: %s", error)
            except PathTaken as error:
                self._note_failure()
                log.warning("no candidate: %s", error)
            finally:
                self.lost_to = None
                if following is not None:
                    following.cancel()
                if self.session_event is SessionEvent.EXPIRED:
                    self._returning.session_expired()
                await client.close()
            await asyncio.sleep(self._pause_s)

    def _note_failure(self) -> None:
        self.failures += 1
        self._failures_in_a_row += 1

    @property
    def _pause_s(self) -> float:
        """How long to wait before the next attempt: a failure that repeats itself is not cheap."""
        options = self.options
        doublings = min(max(self._failures_in_a_row - 1, 0), 20)
        return min(options.retry_s * 2.0**doublings, max(options.retry_s, options.max_retry_s))

    def _note_session(self, event: SessionEvent) -> None:
        self.session_event = event

    async def _run_in(self, client: ZooKeeperClient) -> None:
        """Run for controller again and again within one session; always raises."""
        assert self._server is not None
        host, port = self.options.advertised or self._listen
        endpoint = (host, port or self._server.port)
        election = Election(client, self.candidate_id, endpoint, self._wall_clock_ms)
        stirred = asyncio.Event()
        ended = False

        def on_session_event(event: SessionEvent) -> None:
            nonlocal ended
            if event is SessionEvent.EXPIRED:
                ended = True
                stirred.set()

        client.on_session_event(on_session_event)
        await self._check_owner(client)
        while True:
            stirred.clear()
            if ended:
                raise SessionEnded("the session with ZooKeeper has expired")
            await election.watch(lambda _: stirred.set())
            outcome = await election.run_for_controller()
            self.lost_to = outcome if isinstance(outcome, ElectionLost) else None
            if isinstance(outcome, ElectionLost):
                self._returning.settled()
            if isinstance(outcome, ElectionWon):
                await self._lead(client, election, outcome)
                await asyncio.sleep(self._pause_s)
            else:
                await stirred.wait()
                self.lost_to = None

    async def _check_owner(self, client: ZooKeeperClient) -> None:
        """Return if the path may be this candidate's; raises `PathTaken`."""
        wanted = self.options.owner
        if wanted is None:
            return
        owner = await ensembles.owner_of(client)
        if owner not in (None, wanted):
            raise PathTaken(f"the path in ZooKeeper belongs to {owner}")

    async def _lead(
        self, client: ZooKeeperClient, election: Election, elected: ElectionWon
    ) -> None:
        """Lead until that ends, then resign; raises what makes the session useless."""
        term = self._term = ControllerTerm(
            client,
            elected,
            EventQueue(self.options.max_queued, self.waits.observe),
            candidate_id=self.candidate_id,
            random=self._random,
            options=self.options,
            returning=self._returning,
        )
        self.elections_won += 1
        self.elected_ms = self._wall_clock_ms()
        failure: BaseException | None = None
        begun_at = asyncio.get_running_loop().time()
        try:
            await term.run(election)
        except ExceptionGroup as group:
            failure = _first_cause(group)
        finally:
            self._term = None
            self.handled += term.handled
        end_if_cancelled()
        if asyncio.get_running_loop().time() >= begun_at + self.options.stable_s:
            self._failures_in_a_row = 0
        if isinstance(failure, StoreUnavailable | SessionEnded | ZooKeeperError):
            raise failure
        if isinstance(failure, Deposed | ControllerMoved):
            log.warning("deposed: %s", failure)
        else:
            self._note_failure()
            log.error("resigning, because something unexpected failed", exc_info=failure)
        try:
            async with asyncio.timeout(self.options.resign_timeout_s):
                await election.resign(elected)
        except TimeoutError:
            raise SessionEnded("to resign took too long; the session is given up") from None


def end_if_cancelled() -> None:
    """Raise `asyncio.CancelledError` if the running task was cancelled.

    Call it after the errors of a task group have been caught. When a task is cancelled while one of
    its task groups is failing, Python before 3.13 raises the errors of the group only, and the task
    would go on. It is for groups whose body ends by an exception: where the body returns before a
    member fails, Python counts a cancellation that was not requested.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _first_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first exception in nested groups."""
    failure: BaseException = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


async def start_at_first_free(
    start: Callable[[str, int], Awaitable[None]], host: str, ports: Sequence[int]
) -> None:
    """Start a server on the first port that is free; raises `OSError` when none is."""
    for port in ports[:-1]:
        try:
            await start(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return
    await start(host, ports[-1])
