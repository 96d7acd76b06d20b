"""Conditional writes of LeaderAndIsr, many partitions at a time.

Leaders change the ISR in the same znodes, so the state in the context may be stale. The first round
decides on the context, later rounds on what they read; each write is conditional on the znode's
version. A partition goes into the next round if its version has changed, if it cannot be decided on
the context, or if its state is to stay as it is and was not written just before. So the common case
needs no read, and no decision is based on a stale state.
"""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import dataclass, field

from ballast.controller.errors import ControllerMoved, StateChangeFailed
from ballast.controller.state.context import ControllerContext
from ballast.controller.state.ports import MetadataStore
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr

MAX_ROUNDS = 20
"""A leader changes its ISR a few times a second at most; a round takes milliseconds."""

Decision = Callable[[TopicPartition, LeaderAndIsr], LeaderAndIsr | None]
"""Takes the stored state; returns leader and ISR to write, or None to leave the state as it is.

Raises `StateChangeFailed`. Epochs and versions of what it returns are overwritten.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The outcome of a rewrite, by partition."""

    states: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    """The state of each partition that was written, or left as it is on purpose."""
    failed: dict[TopicPartition, StateChangeFailed] = field(default_factory=dict)


class LeaderAndIsrUpdater:
    """Reads and writes LeaderAndIsr, in the store and then in the context."""

    def __init__(self, context: ControllerContext, store: MetadataStore) -> None:
        self._context = context
        self._store = store

    async def read(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        """Read the states of partitions into the context; one without a state is left out.

        Raises `ControllerMoved` when a later controller has written one of them.
        """
        if not partitions:
            return {}
        states = await self._store.read_leadership(partitions)
        for topic_partition, state in states.items():
            if state.controller_epoch > self._context.controller_epoch:
                raise ControllerMoved(
                    f"{topic_partition} was written by controller epoch {state.controller_epoch}, "
                    f"this is {self._context.controller_epoch}"
                )
        self._context.leadership.update(states)
        return states

    async def create(
        self, leadership: Mapping[TopicPartition, LeaderAndIsr]
    ) -> tuple[Collection[TopicPartition], Collection[TopicPartition]]:
        """Write first states; return the partitions written, and those that had one already."""
        if not leadership:
            return (), ()
        outcome = await self._store.create_leadership(leadership)
        self._context.leadership.update(outcome.written)
        existing = sorted(outcome.stale)
        await self.read(existing)
        return sorted(outcome.written), existing

    async def raise_epochs(self, partitions: Collection[TopicPartition]) -> Rewritten:
        """Write leader and ISR as they are under the next leader epoch."""
        return await self.rewrite(partitions, lambda _, state: state)

    async def rewrite(
        self,
        partitions: Collection[TopicPartition],
        decide: Decision,
        *,
        just_written: Set[TopicPartition] = frozenset(),
    ) -> Rewritten:
        """Write what ``decide`` returns, each state under its next leader epoch.

        Partitions ``just_written`` by this controller are not read first where their state stays
        as it is. Failures are also added to the context. Raises `ControllerMoved`.
        """
        outcome = Rewritten()
        pending = sorted(set(partitions))
        remembered = {
            tp: state for tp in pending if (state := self._context.leadership.get(tp)) is not None
        }
        if remembered:
            decided, left = _decided(remembered, decide)
            outcome.states.update({tp: remembered[tp] for tp in left if tp in just_written})
            outcome.states.update(await self._write(decided, remembered))
            pending = [tp for tp in pending if tp not in outcome.states]
        for _ in range(MAX_ROUNDS):
            if not pending:
                break
            pending = await self._rewrite_once(pending, decide, outcome)
        for topic_partition in pending:
            outcome.failed[topic_partition] = StateChangeFailed(
                f"{topic_partition} changed under each of {MAX_ROUNDS} attempts to write it"
            )
        self._context.failures.extend(outcome.failed.values())
        return outcome

    async def _rewrite_once(
        self, partitions: list[TopicPartition], decide: Decision, outcome: Rewritten
    ) -> list[TopicPartition]:
        """Read, decide and write once; return the partitions that changed in between."""
        states = await self.read(partitions)
        changes: dict[TopicPartition, LeaderAndIsr] = {}
        for topic_partition in partitions:
            try:
                stored = _stored(states, topic_partition)
                decided = decide(topic_partition, stored)
            except StateChangeFailed as failure:
                outcome.failed[topic_partition] = failure
                continue
            if decided is None:
                outcome.states[topic_partition] = stored
            else:
                changes[topic_partition] = decided
        written = await self._write(changes, states)
        outcome.states.update(written)
        return sorted(tp for tp in changes if tp not in written)

    async def _write(
        self,
        decided: Mapping[TopicPartition, LeaderAndIsr],
        stored: Mapping[TopicPartition, LeaderAndIsr],
    ) -> Mapping[TopicPartition, LeaderAndIsr]:
        """Write over what is stored, and return what could be written."""
        if not decided:
            return {}
        epoch = self._context.controller_epoch
        changes = {tp: state.to_replace(stored[tp], epoch) for tp, state in decided.items()}
        writes = await self._store.update_leadership(changes)
        self._context.leadership.update(writes.written)
        return writes.written


def _decided(
    states: Mapping[TopicPartition, LeaderAndIsr], decide: Decision
) -> tuple[dict[TopicPartition, LeaderAndIsr], list[TopicPartition]]:
    """Return the states to write and the partitions to leave; failures are decided when read."""
    decided: dict[TopicPartition, LeaderAndIsr] = {}
    left: list[TopicPartition] = []
    for topic_partition, state in states.items():
        try:
            change = decide(topic_partition, state)
        except StateChangeFailed:
            continue
        if change is None:
            left.append(topic_partition)
        else:
            decided[topic_partition] = change
    return decided, left


def _stored(
    states: Mapping[TopicPartition, LeaderAndIsr], topic_partition: TopicPartition
) -> LeaderAndIsr:
    if topic_partition not in states:
        raise StateChangeFailed(f"{topic_partition} has no stored state")
    return states[topic_partition]
