"""One follower's connection to one leader: fetch, truncate where the logs diverge, append.

Every fetch is version 12 and carries the epoch of the follower's last record, so that the leader
tells in the answer where the two logs part (KIP-595's truncation on fetch); a new leader epoch
begins with such a fetch, and answers to requests of an older state are not taken (KAFKA-7786).
Work is per partition and answer, never per record.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from ballast.broker.partition import Partition
from ballast.broker.replica_manager import ReplicaManager
from ballast.model.brokers import Broker
from ballast.model.ids import TopicPartition
from ballast.net.channel import BrokerChannel
from ballast.net.errors import NetError
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.errors import RecordsError
from ballast.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ballast.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ballast.replication.follower import (
    EpochEnd,
    FetchState,
    OutOfRangeAction,
    after_out_of_range,
    truncation_offset,
)
from ballast.storage.errors import LogFailed, StorageError

log = logging.getLogger(__name__)

FETCH_VERSION: Final = 12
LIST_OFFSETS_VERSION: Final = 6

EARLIEST: Final = -2
LATEST: Final = -1

LEADER_RETRY_MS: Final = 50
"""Wait when the leader has not heard of its epoch yet: the controller is telling it now."""

THROTTLED_RETRY_S: Final = 0.1
"""Wait when the quota holds back every partition that is ready."""

_SOON: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


@dataclass(slots=True)
class _Followed:
    """A partition, where it is fetched from next, and that as the request says it."""

    partition: Partition
    state: FetchState
    asked: FetchPartition
    refusal: int = ErrorCode.NONE
    """The leader's last word, so that a refusal is logged once and not at each retry."""


class Fetcher:
    """Fetches partitions from one leader, all of them in each request."""

    def __init__(self, leader: Broker, channel: BrokerChannel, replicas: ReplicaManager) -> None:
        self._leader = leader
        self._channel = channel
        self._replicas = replicas
        self._followed: dict[TopicPartition, _Followed] = {}
        self._wake = asyncio.Event()
        self._is_waiting = False
        """Whether an answer is awaited that nobody has given up."""

    # -- which partitions -----------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether no partition is fetched."""
        return not self._followed

    def add(self, partition: Partition) -> None:
        """Fetch from the end of the partition's log, in its present leader epoch.

        A replica in the ISR begins as one without lag: a throttle must not hold back what acks=all
        waits for (Kafka's does, until the first answer in the new epoch).
        """
        end = partition.log.log_end_offset
        state = FetchState(
            leader_epoch=partition.leader_epoch,
            fetch_offset=end,
            last_fetched_epoch=_last_epoch(partition),
            lag=0 if partition.is_in_sync else None,
        )
        # The leader holds an answer back while nothing is new; a partition that is just beginning
        # does not wait for that (up to ``replica.fetch.wait.max.ms``).
        if self._is_waiting and not any(other.state.lag for other in self._followed.values()):
            self._is_waiting = False
            self._channel.interrupt()
        self._followed[partition.name] = _Followed(partition, state, self._asked(partition, state))
        self._wake.set()

    def remove(self, name: TopicPartition) -> None:
        """Fetch the partition no more."""
        self._followed.pop(name, None)

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
                ready = self._ready()
                if ready:
                    await self._fetch(ready)
                else:
                    await self._pause()
        finally:
            await self._channel.close()

    def _ready(self) -> dict[TopicPartition, FetchState]:
        now = self._replicas.clock()
        throttles = self._replicas.throttles
        return {
            name: followed.state
            for name, followed in self._followed.items()
            if followed.state.ready(now)
            and not throttles.follower_holds_back(name, followed.state.lag)
        }

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

    async def _fetch(self, requested: dict[TopicPartition, FetchState]) -> None:
        config = self._replicas.config
        self._is_waiting = True
        try:
            response = await self._channel.request(self._request(requested), FETCH_VERSION)
        except NetError as error:
            if self._is_waiting:
                log.info("fetch from broker %d: %s", self._leader.broker_id, error)
                self._delay(requested, config.replica_fetch_backoff_ms)
            return
        finally:
            self._is_waiting = False
        assert isinstance(response, FetchResponse)
        if response.error_code != ErrorCode.NONE:
            self._delay(requested, config.replica_fetch_backoff_ms)
            return
        out_of_range = self._take_all(response, requested)
        for name in out_of_range:
            await self._find_range(name, requested[name])

    def _request(self, requested: dict[TopicPartition, FetchState]) -> FetchRequest:
        by_topic: dict[str, list[FetchPartition]] = {}
        for name in requested:
            by_topic.setdefault(name.topic, []).append(self._followed[name].asked)
        config = self._replicas.config
        return FetchRequest(
            replica_id=self._replicas.identity.broker_id,
            max_wait_ms=config.replica_fetch_wait_max_ms,
            min_bytes=config.replica_fetch_min_bytes,
            max_bytes=config.replica_fetch_response_max_bytes,
            topics=tuple(
                FetchTopic(topic=topic, partitions=tuple(partitions))
                for topic, partitions in by_topic.items()
            ),
        )

    # -- answers --------------------------------------------------------------------------------

    def _take_all(
        self, response: FetchResponse, requested: dict[TopicPartition, FetchState]
    ) -> list[TopicPartition]:
        """Take an answer; return the partitions that were out of the leader's range."""
        out_of_range = []
        received = 0
        for topic in response.responses:
            for data in topic.partitions:
                name = TopicPartition(topic.topic, data.partition_index)
                followed = self._current(name, requested.get(name))
                if followed is None:
                    continue
                if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                    out_of_range.append(name)
                elif data.error_code != ErrorCode.NONE:
                    self._refused(followed, data.error_code)
                else:
                    followed.refusal = ErrorCode.NONE
                    received += self._take(followed, data)
        if received:
            self._replicas.metrics.replication_bytes_in.inc(received)
        # Partitions with records go last, so that a full answer does not starve the others.
        for topic in response.responses:
            for data in topic.partitions:
                name = TopicPartition(topic.topic, data.partition_index)
                if data.records and name in self._followed:
                    self._followed[name] = self._followed.pop(name)
        return out_of_range

    def _current(self, name: TopicPartition, requested: FetchState | None) -> _Followed | None:
        """Return the partition if it is still as it was when the request was made."""
        followed = self._followed.get(name)
        if followed is None or requested is None or not followed.state.matches(requested):
            return None
        return followed

    def _take(self, followed: _Followed, data: PartitionData) -> int:
        """Truncate or append as the leader says; return the bytes appended."""
        partition = followed.partition
        try:
            if data.diverging_epoch.end_offset >= 0:
                self._truncate(
                    followed,
                    EpochEnd(
                        epoch=data.diverging_epoch.epoch,
                        end_offset=data.diverging_epoch.end_offset,
                    ),
                )
                return 0
            size = len(data.records) if data.records else 0
            if data.records:
                partition.log.append_as_follower(
                    memoryview(data.records), now_ms=self._replicas.wall_clock_ms()
                )
            partition.take_leader_offsets(data.high_watermark, data.log_start_offset)
        except (StorageError, RecordsError) as error:
            if isinstance(error, LogFailed):
                self._replicas.storage_failed(error)
            log.error("%s: fetched records are not taken: %s", partition.name, error)  # noqa: TRY400
            self._delay_one(followed, self._replicas.config.replica_fetch_backoff_ms)
            return 0
        self._replicas.throttles.follower_received(partition.name, size)
        self._move(
            followed,
            followed.state.after_append(
                partition.log.log_end_offset, _last_epoch(partition), data.high_watermark
            ),
        )
        return size

    def _truncate(self, followed: _Followed, diverging: EpochEnd) -> None:
        partition = followed.partition
        end = partition.log.log_end_offset
        offset = truncation_offset(partition.log.leader_epochs, end, diverging)
        log.info("%s: truncated from %d to %d, %s", partition.name, end, offset, diverging)
        partition.truncate(offset)
        self._move(
            followed,
            followed.state.after_truncation(partition.log.log_end_offset, _last_epoch(partition)),
        )

    def _refused(self, followed: _Followed, code: int) -> None:
        if code != followed.refusal:
            log.info(
                "%s: broker %d refused the fetch in epoch %d: error %d",
                followed.partition.name,
                self._leader.broker_id,
                followed.state.leader_epoch,
                code,
            )
            followed.refusal = code
        self._delay_one(
            followed,
            LEADER_RETRY_MS if code in _SOON else self._replicas.config.replica_fetch_backoff_ms,
        )

    # -- out of range ---------------------------------------------------------------------------

    async def _find_range(self, name: TopicPartition, requested: FetchState) -> None:
        """Get back into the leader's range after OFFSET_OUT_OF_RANGE."""
        try:
            end = await self._leader_offset(name, requested.leader_epoch, LATEST)
            start = await self._leader_offset(name, requested.leader_epoch, EARLIEST)
        except NetError as error:
            log.info("offsets from broker %d: %s", self._leader.broker_id, error)
            end = start = None
        followed = self._current(name, requested)
        if followed is None:
            return
        if end is None or start is None:
            self._delay_one(followed, self._replicas.config.replica_fetch_backoff_ms)
            return
        partition = followed.partition
        action = after_out_of_range(start, end, partition.log.log_end_offset)
        log.info("%s: out of the leader's range %d..%d: %s", name, start, end, action)
        try:
            if action.truncate_to is not None:
                partition.truncate(action.truncate_to)
            elif action.restart_at is not None:
                partition.restart_at(action.restart_at)
        except StorageError as error:
            log.error("%s: %s", name, error)  # noqa: TRY400
            self._delay_one(followed, self._replicas.config.replica_fetch_backoff_ms)
            return
        self._move(
            followed,
            followed.state.after_truncation(partition.log.log_end_offset, _last_epoch(partition)),
        )
        if action == OutOfRangeAction():
            # The range has moved meanwhile, or the leader's epochs do not reach back: ask anew,
            # but not at once.
            self._delay_one(followed, self._replicas.config.replica_fetch_backoff_ms)

    async def _leader_offset(
        self, name: TopicPartition, leader_epoch: int, timestamp: int
    ) -> int | None:
        partition = ListOffsetsPartition(
            partition_index=name.partition, current_leader_epoch=leader_epoch, timestamp=timestamp
        )
        response = await self._channel.request(
            ListOffsetsRequest(
                replica_id=self._replicas.identity.broker_id,
                topics=(ListOffsetsTopic(name=name.topic, partitions=(partition,)),),
            ),
            LIST_OFFSETS_VERSION,
        )
        for topic in response.topics:
            for answer in topic.partitions:
                if answer.error_code == ErrorCode.NONE:
                    return int(answer.offset)
        return None

    # -- states ---------------------------------------------------------------------------------

    def _move(self, followed: _Followed, state: FetchState) -> None:
        # Equal positions are asked for in the same words: an idle partition costs nothing here.
        if not state.matches(followed.state):
            followed.asked = self._asked(followed.partition, state)
        followed.state = state

    def _asked(self, partition: Partition, state: FetchState) -> FetchPartition:
        return FetchPartition(
            partition=partition.name.partition,
            current_leader_epoch=state.leader_epoch,
            fetch_offset=state.fetch_offset,
            last_fetched_epoch=state.last_fetched_epoch,
            log_start_offset=partition.log.log_start_offset,
            partition_max_bytes=self._replicas.config.replica_fetch_max_bytes,
        )

    def _delay(self, requested: dict[TopicPartition, FetchState], backoff_ms: int) -> None:
        for name, state in requested.items():
            followed = self._current(name, state)
            if followed is not None:
                self._delay_one(followed, backoff_ms)

    def _delay_one(self, followed: _Followed, backoff_ms: int) -> None:
        followed.state = followed.state.delayed(self._replicas.clock(), backoff_ms)


def _last_epoch(partition: Partition) -> int:
    """Return the epoch of the last record; an epoch begun without records says nothing."""
    return partition.log.leader_epochs.epoch_at(partition.log.log_end_offset - 1)
