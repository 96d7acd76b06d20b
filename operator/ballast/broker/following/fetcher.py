"""Fetches from one leader: appends records, and truncates where the logs diverge.

Every fetch is version 12 and carries the epoch of the follower's last record, so that the response
says where the two logs diverge (KIP-595's truncation on fetch). A new leader epoch begins with such
a fetch, and responses to requests of an older state are dropped (KAFKA-7786). A fetch names only
the partitions whose positions have changed since the previous one (KIP-227), so that idle
partitions cost nothing. Work is done per partition and response, never per record.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ballast.broker.following.fetch_exchange import FetchExchange, Spawn
from ballast.broker.following.fetched_records import FetchedRecords, may_fetch_ahead
from ballast.broker.following.followed_partition import FollowedPartition
from ballast.broker.following.follower_requests import fetch_request, partition_request
from ballast.broker.following.leader_range import leader_range
from ballast.broker.partitions.partition import Partition
from ballast.broker.replicas.replica_manager import ReplicaManager
from ballast.model.brokers import RegisteredBroker
from ballast.model.ids import TopicPartition
from ballast.net.client.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.records.fetch import FetchPartition, FetchResponse
from ballast.replication.follower import FetchState
from ballast.replication.follower_session import FollowerSession

log = logging.getLogger(__name__)

_SESSION_ERRORS: Final = frozenset(
    {ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH}
)

THROTTLED_RETRY_S: Final = 0.1
"""Pause when the quota delays every partition that is ready."""


@dataclass(frozen=True, slots=True)
class _Rest:
    """The part of a response that cannot be handled where it arrives."""

    out_of_range: dict[TopicPartition, FetchState]
    """Partitions for which the leader must be asked for the range of its log."""
    fetched: list[FetchedRecords]
    """Records that are not appended yet."""


_Left = FetchResponse | NetError | _Rest | None
"""Work for the task: a response, an error, a rest, or None when nothing is fetched."""


class ReplicaFetcher:
    """Fetches partitions from one leader, all of them in one session."""

    def __init__(
        self,
        leader: RegisteredBroker,
        channel: BrokerChannel,
        replicas: ReplicaManager,
        spawn: Spawn,
    ) -> None:
        self._leader = leader
        self._channel = channel
        self._replicas = replicas
        self._followed: dict[TopicPartition, FollowedPartition] = {}
        self._session: FollowerSession[TopicPartition, FetchPartition] = FollowerSession()
        self._requested: dict[TopicPartition, FetchState] = {}
        """The states in the last fetch of the session and those before it."""
        self._changed: dict[TopicPartition, None] = {}
        """Partitions whose entry in the session may have to change."""
        self._left_out: dict[TopicPartition, None] = {}
        """Partitions that are delayed, by a back-off or by the throttle."""
        self._wake = asyncio.Event()
        self._exchange = FetchExchange(channel, spawn, self._answered)
        self._left: asyncio.Future[_Left] = asyncio.get_running_loop().create_future()
        """The task waits for it, while responses are handled where they arrive."""
        self._is_busy = False
        """Whether the task is working: a response that arrives meanwhile is left to it."""
        self._is_cancelled = False
        """Whether the fetch in flight was cancelled for one that requests more."""

    # -- which partitions -----------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether no partition is fetched."""
        return not self._followed

    def add(self, partition: Partition) -> None:
        """Fetch a further partition, in its present leader epoch."""
        # The leader delays a response while nothing is new; a partition that is just added must
        # not wait for that (up to ``replica.fetch.wait.max.ms``).
        if (
            self._exchange.is_in_flight
            and not self._is_cancelled
            and not any(other.state.lag for other in self._followed.values())
        ):
            self._is_cancelled = True
            self._exchange.cancel()
        self._followed[partition.name] = FollowedPartition(
            self._replicas, partition, self._leader.broker_id
        )
        self._changed[partition.name] = None
        self._wake.set()

    def remove(self, name: TopicPartition) -> None:
        """Stop fetching the partition."""
        self._followed.pop(name, None)
        self._changed[name] = None

    def lag(self, name: TopicPartition) -> int:
        """Return how many offsets a partition lags behind the leader's high watermark."""
        followed = self._followed.get(name)
        return (followed.state.lag or 0) if followed is not None else 0

    def max_lag(self) -> int:
        """Return the offsets that the slowest partition lags behind its leader."""
        return max((followed.state.lag or 0 for followed in self._followed.values()), default=0)

    # -- the loop -------------------------------------------------------------------------------

    async def run(self) -> None:
        """Fetch until cancelled."""
        try:
            while True:
                self._wake.clear()
                if not (self._exchange.is_in_flight or self._left.done() or self._send_fetch()):
                    await self._pause()
                    continue
                left = await self._left
                self._left = asyncio.get_running_loop().create_future()
                self._is_busy = True
                await self._deal_with(left)
                self._is_busy = False
        finally:
            await self._exchange.close()

    def _answered(self, outcome: FetchResponse | NetError) -> None:
        """Handle a response where it arrives and send the next fetch, or leave it to the task."""
        if self._left.cancelled():
            return
        if self._is_busy or isinstance(outcome, NetError):
            self._left.set_result(outcome)
            return
        try:
            rest = self._take(outcome)
            # The last partition may just have gone offline with its disk, which ended the task.
            if not self._left.cancelled() and (rest is not None or not self._send_fetch()):
                self._left.set_result(rest)
        except Exception as error:  # noqa: BLE001  the task raises it, and the broker ends
            self._left.set_exception(error)

    def _update_positions(self) -> None:
        """Decide for each changed partition whether it is fetched, and from where."""
        now = self._replicas.clock()
        throttles = self._replicas.throttles
        names, self._changed = self._changed, {}
        names.update(self._left_out)
        is_any_throttled = throttles.follower.covers_any
        if is_any_throttled:
            # Which partitions the throttle delays depends on the time.
            names |= dict.fromkeys(self._followed)
        for name in names:
            followed = self._followed.get(name)
            if (
                followed is not None
                and followed.state.ready(now)
                and not (
                    is_any_throttled and throttles.follower_holds_back(name, followed.state.lag)
                )
            ):
                self._left_out.pop(name, None)
                self._want(name, followed.state, followed.request)
                continue
            self._session.leave_out(name)
            self._requested.pop(name, None)
            if followed is None:
                self._left_out.pop(name, None)
            else:
                self._left_out[name] = None

    def _want(self, name: TopicPartition, state: FetchState, asked: FetchPartition) -> None:
        self._session.want(name, asked)
        self._requested[name] = state

    async def _pause(self) -> None:
        """Wait until a partition is ready, or one is added."""
        now = self._replicas.clock()
        waits = [
            followed.state.delayed_until - now
            for followed in self._followed.values()
            if followed.state.delayed_until is not None and followed.state.delayed_until > now
        ]
        if len(waits) < len(self._followed):
            waits.append(THROTTLED_RETRY_S)
        try:
            async with asyncio.timeout(min(waits, default=None)):
                await self._wake.wait()
        except TimeoutError:
            return

    def _send_fetch(self) -> bool:
        """Send the next fetch; return False if there is nothing to fetch at the moment."""
        self._update_positions()
        if not self._session.wants_any:
            return False
        self._send()
        return True

    def _send(self) -> None:
        self._is_cancelled = False
        self._exchange.send(fetch_request(self._replicas, self._session.next_fetch()))

    def _take(self, response: FetchResponse) -> _Rest | None:
        """Handle a response; return what the task has to do, if records were not appended."""
        if response.error_code != ErrorCode.NONE:
            self._refused(response.error_code)
            return None
        self._session.answered(response.session_id)
        out_of_range, fetched = self._sort(response)
        if out_of_range or self._may_ask_on(fetched):
            return _Rest(out_of_range, fetched)
        self._append_all(fetched)
        return None

    async def _deal_with(self, left: _Left) -> None:
        if isinstance(left, NetError):
            self._session.failed()
            if not self._is_cancelled:
                log.info("fetch from broker %d: %s", self._leader.broker_id, left)
                self._delay_all()
            return
        rest = self._take(left) if isinstance(left, FetchResponse) else left
        if rest is None:
            return
        if not rest.out_of_range:
            await self._fetch_ahead(rest.fetched)
        self._append_all(rest.fetched)
        for name, state in rest.out_of_range.items():
            await self._find_range(name, state)

    def _may_ask_on(self, fetched: Sequence[FetchedRecords]) -> bool:
        if not may_fetch_ahead(fetched):
            return False
        throttle = self._replicas.throttles.follower
        return not any(throttle.covers(part.partition.name) for part in fetched)

    def _refused(self, code: int) -> None:
        """Begin a new session after an error code of the whole response.

        At once if the leader no longer has the session: a fetch of all partitions needs none.
        """
        self._session.failed(is_unknown=code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if code not in _SESSION_ERRORS:
            self._delay_all()

    async def _fetch_ahead(self, fetched: Sequence[FetchedRecords]) -> None:
        """Send the next fetch with the state after ``fetched`` is appended."""
        self._update_positions()
        for part in fetched:
            name = part.partition.name
            if self._session.is_wanted(name):
                state = part.state_after()
                self._want(name, state, partition_request(self._replicas, part.partition, state))
        if not self._session.wants_any:
            return
        self._send()
        # The transport writes the request to the socket at the end of a turn of the loop.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    # -- answers --------------------------------------------------------------------------------

    def _sort(
        self, response: FetchResponse
    ) -> tuple[dict[TopicPartition, FetchState], list[FetchedRecords]]:
        """Handle a response except for its records.

        Returns the partitions that were out of the leader's range, and the records.
        """
        out_of_range = {}
        fetched = []
        for topic in response.responses:
            for data in topic.partitions:
                name = TopicPartition(topic.topic, data.partition_index)
                requested = self._requested.get(name)
                followed = self._current(name, requested)
                if followed is None or requested is None:
                    continue
                self._changed[name] = None
                if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    out_of_range[name] = requested
                elif data.error_code != ErrorCode.NONE:
                    followed.refused(data.error_code)
                elif (part := followed.take(data)) is not None:
                    fetched.append(part)
        return out_of_range, fetched

    def _append_all(self, fetched: Sequence[FetchedRecords]) -> None:
        received = 0
        for part in fetched:
            name = part.partition.name
            followed = self._current(name, part.requested)
            if followed is None:
                continue
            received += followed.append(part)
            self._changed[name] = None
        if received:
            self._replicas.metrics.replication_bytes_in.inc(received)

    def _current(
        self, name: TopicPartition, requested: FetchState | None
    ) -> FollowedPartition | None:
        """Return the partition if its state has not changed since the request."""
        followed = self._followed.get(name)
        if followed is None or requested is None or not followed.state.matches(requested):
            return None
        return followed

    async def _find_range(self, name: TopicPartition, requested: FetchState) -> None:
        """Return into the range of the leader's log after OFFSET_OUT_OF_RANGE."""
        replica_id = self._replicas.identity.broker_id
        try:
            found = await leader_range(self._channel, replica_id, name, requested.leader_epoch)
        except NetError as error:
            log.info("offsets from broker %d: %s", self._leader.broker_id, error)
            found = None
        followed = self._current(name, requested)
        if followed is None:
            return
        self._changed[name] = None
        if found is None:
            followed.delay()
        else:
            followed.take_range(*found)

    def _delay_all(self) -> None:
        for name, state in self._requested.items():
            followed = self._current(name, state)
            if followed is not None:
                followed.delay()
                self._changed[name] = None
