"""A model of one replicated partition, walked at random: the rules alone, nothing round them.

Leaders are `LeaderView`s, followers use `diverging_epoch` and `truncation_offset`, epochs are
kept in the real cache. Logs are lists, the state znode is a value, fetches are answered any time
later or never, the outcome of an ISR write may be lost. After each step the model says which
predicate does not hold: P1 acknowledged records stay, P2 the ISR has what a leader has committed,
P3 who is elected has it too, P4 one record per committed offset, P6 one appender per epoch,
P7 the high watermark waits for everyone who may be in the ISR.
"""

import random
from dataclasses import dataclass, field

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_LEADER
from ballast.model.leadership import LeaderAndIsr
from ballast.replication.errors import ReplicationError
from ballast.replication.fencing import check_leader_epoch
from ballast.replication.follower import (
    EpochEnd,
    diverging_epoch,
    follower_high_watermark,
    truncation_offset,
)
from ballast.replication.leader_epochs import LeaderEpochCache
from ballast.replication.partition import AcksAll, LeaderView

LAG_TIME_MAX_MS = 1_000
MIN_INSYNC_REPLICAS = 1


@dataclass(kw_only=True)
class Record:
    """One record: unique value and the leader epoch it was written in."""

    value: int
    epoch: int


@dataclass(kw_only=True)
class Fetch:
    """A follower's fetch, and later its answer."""

    follower: int
    epoch: int
    offset: int
    last_epoch: int
    answer: "Answer | None" = None


@dataclass(kw_only=True)
class Answer:
    """What the leader said."""

    records: list[Record]
    high_watermark: int
    diverging: EpochEnd | None = None


@dataclass(kw_only=True)
class Replica:
    """One broker with its log; the log outlives a crash (the page cache does)."""

    broker_id: int
    log: list[Record] = field(default_factory=list)
    epochs: LeaderEpochCache = field(default_factory=LeaderEpochCache)
    high_watermark: int = 0
    leader_epoch: int = -1
    leader: int = NO_LEADER
    alive: bool = True
    view: LeaderView | None = None

    def truncate(self, offset: int) -> None:
        """Cut the log's end off; the high watermark cannot stay above it."""
        del self.log[offset:]
        self.epochs.truncate_from_end(offset)
        self.high_watermark = min(self.high_watermark, offset)


class ReplicaGroup:
    """Brokers 1 to n, a controller and a state znode; every step is drawn from the seed."""

    def __init__(self, seed: int, replicas: int = 3) -> None:
        self.random = random.Random(seed)
        self.now = 0.0
        self.assignment = ReplicaAssignment.of(*range(1, replicas + 1))
        self.replicas = {b: Replica(broker_id=b) for b in self.assignment.replicas}
        self.znode = LeaderAndIsr(
            leader=1, leader_epoch=0, isr=self.assignment.replicas, controller_epoch=1
        )
        self.undelivered: dict[int, list[LeaderAndIsr]] = {b: [] for b in self.replicas}
        self.fetches: list[Fetch] = []
        self.lost_writes: dict[int, LeaderAndIsr] = {}
        """Per broker, an ISR write whose connection was lost before it was applied."""
        self.values = 0
        self.appends: dict[int, tuple[int, int]] = {}
        """Value -> (leader epoch, offset + 1) of records not yet acknowledged."""
        self.committed: list[int] = []
        """Values that some leader has shown to be committed, by offset."""
        self.appenders: dict[int, int] = {}
        """Leader epoch -> the broker that appended in it."""
        self.trace: list[str] = []
        self._violation: str | None = None
        self._tell_everyone()

    # -- one step -------------------------------------------------------------------------------

    def step(self) -> str | None:
        """Do one random thing; return the predicate that it broke, or None."""
        action = self.random.choices(
            (
                self.append,
                self.send_fetch,
                self.answer_fetch,
                self.take_answer,
                self.deliver,
                self.change_isr,
                self.apply_lost_write,
                self.crash,
                self.restart,
                self.elect,
            ),
            weights=(10, 24, 24, 24, 14, 12, 4, 1, 4, 4),
        )[0]
        self.now += self.random.choice((0.0, 0.01, 0.3))
        broker = self.random.choice(self.assignment.replicas)
        before = len(self.trace)
        action(self.replicas[broker])
        if len(self.trace) == before:
            return None
        self._advance_all()
        return self._violation or self.violation()

    def walk(self, steps: int) -> str | None:
        """Take steps until one breaks a predicate; return it."""
        for _ in range(steps):
            violation = self.step()
            if violation is not None:
                return violation
        return None

    def note(self, text: str) -> None:
        """Keep a line of the trace."""
        self.trace.append(text)

    # -- leaders --------------------------------------------------------------------------------

    def append(self, broker: Replica) -> None:
        """Produce one record with acks=all."""
        if broker.view is None:
            return
        try:
            broker.view.check_enough_replicas(MIN_INSYNC_REPLICAS)
        except ReplicationError:
            return
        self.values += 1
        epoch = broker.view.leader_epoch
        if self.appenders.setdefault(epoch, broker.broker_id) != broker.broker_id:
            self._violation = f"P6: two brokers appended in epoch {epoch}"
        broker.log.append(Record(value=self.values, epoch=epoch))
        self.appends[self.values] = (epoch, len(broker.log))
        self.note(f"{broker.broker_id} appends {self.values} at {len(broker.log) - 1}")

    def _advance_all(self) -> None:
        for broker in self.replicas.values():
            if broker.view is not None:
                broker.view.advance_high_watermark(len(broker.log), self.now, LAG_TIME_MAX_MS)
                broker.high_watermark = broker.view.high_watermark
                self._note_committed(broker, broker.view)

    def _note_committed(self, broker: Replica, view: LeaderView) -> None:
        for offset, value in enumerate(self.committed[: view.high_watermark]):
            if broker.log[offset].value != value:
                self._violation = f"P4: {broker.broker_id} commits another record at {offset}"
        for record in broker.log[len(self.committed) : view.high_watermark]:
            self.committed.append(record.value)
        for value, (epoch, end) in list(self.appends.items()):
            if epoch != view.leader_epoch:
                continue
            if view.acks_all(end, MIN_INSYNC_REPLICAS) is AcksAll.DONE:
                del self.appends[value]
                if self.committed[end - 1 : end] != [value]:
                    self._violation = f"P1: {value} acknowledged, another record is committed"

    def change_isr(self, broker: Replica) -> None:
        """Let a leader write an ISR change, or go on with one whose outcome is unknown."""
        view = broker.view
        if view is None:
            return
        if view.maximal_isr != view.isr or broker.broker_id in self.lost_writes:
            proposed = view.isr_read(self.znode)
        else:
            proposed = view.propose_shrink(len(broker.log), self.now, LAG_TIME_MAX_MS)
            for follower in self.assignment.replicas:
                alive = self.replicas[follower].alive
                proposed = proposed or view.propose_expand(follower, eligible=alive)
        if proposed is not None:
            self._write_isr(broker, view, proposed)

    def _write_isr(self, broker: Replica, view: LeaderView, proposed: LeaderAndIsr) -> None:
        outcome = self.random.choice(("answered", "answered", "applied, lost", "lost"))
        self.note(f"{broker.broker_id} writes isr {proposed.isr}, {outcome}")
        if outcome == "lost":
            self.lost_writes[broker.broker_id] = proposed
            return
        self.lost_writes.pop(broker.broker_id, None)
        applied = self._compare_and_set(proposed)
        if outcome == "applied, lost":
            return
        if applied:
            view.isr_committed(self.znode)
        else:
            view.isr_conflict(self.znode)

    def _compare_and_set(self, proposed: LeaderAndIsr) -> bool:
        if proposed.zk_version != self.znode.zk_version:
            return False
        self.znode = proposed.at_version(proposed.zk_version + 1)
        return True

    def apply_lost_write(self, broker: Replica) -> None:
        """Let a write whose outcome is unknown to its writer arrive late."""
        proposed = self.lost_writes.pop(broker.broker_id, None)
        if proposed is not None:
            applied = self._compare_and_set(proposed)
            self.note(f"{broker.broker_id}'s lost write {proposed.isr} arrives: {applied}")

    # -- followers ------------------------------------------------------------------------------

    def send_fetch(self, broker: Replica) -> None:
        """Let a follower ask its leader, at most once at a time."""
        if not broker.alive or broker.view is not None or broker.leader == NO_LEADER:
            return
        if any(fetch.follower == broker.broker_id for fetch in self.fetches):
            return
        fetch = Fetch(
            follower=broker.broker_id,
            epoch=broker.leader_epoch,
            offset=len(broker.log),
            last_epoch=self.last_fetched_epoch(broker),
        )
        self.fetches.append(fetch)
        self.note(f"{fetch.follower} fetches {fetch.offset}/{fetch.last_epoch} in {fetch.epoch}")

    def last_fetched_epoch(self, broker: Replica) -> int:
        """Return what the follower states as the epoch of its last record."""
        return broker.epochs.latest_epoch

    def answer_fetch(self, leader: Replica) -> None:
        """Let a leader answer one fetch that has been made in its epoch."""
        view = leader.view
        open_fetches = [
            f for f in self.fetches if f.answer is None and f.follower != leader.broker_id
        ]
        if view is None or not open_fetches:
            return
        fetch = open_fetches[0]
        end = len(leader.log)
        try:
            check_leader_epoch(fetch.epoch, view.leader_epoch)
            diverging = diverging_epoch(leader.epochs, 0, end, fetch.offset, fetch.last_epoch)
        except ReplicationError as error:
            self.note(f"{leader.broker_id} refuses {fetch.follower}: {type(error).__name__}")
            self.fetches.remove(fetch)
            return
        if diverging is None:
            view.record_fetch(fetch.follower, fetch.offset, 0, self.now, end)
        upper = min(end, fetch.offset + self.random.randint(0, 3))
        records = [] if diverging else leader.log[fetch.offset : upper]
        view.advance_high_watermark(end, self.now, LAG_TIME_MAX_MS)
        fetch.answer = Answer(
            records=records, high_watermark=view.high_watermark, diverging=diverging
        )
        self.note(f"{leader.broker_id} answers {fetch.follower}: {len(records)}, {diverging}")

    def take_answer(self, broker: Replica) -> None:
        """Let a follower take an answer, unless it has moved on meanwhile."""
        for fetch in self.fetches:
            if fetch.follower == broker.broker_id and fetch.answer is not None:
                break
        else:
            return
        self.fetches.remove(fetch)
        if fetch.epoch != broker.leader_epoch or fetch.offset != len(broker.log):
            return
        answer = fetch.answer
        if answer.diverging is not None:
            broker.truncate(truncation_offset(broker.epochs, len(broker.log), answer.diverging))
        for record in answer.records:
            broker.epochs.assign(record.epoch, len(broker.log))
            broker.log.append(record)
        broker.high_watermark = follower_high_watermark(answer.high_watermark, len(broker.log))
        self.note(f"{broker.broker_id} takes the answer: end {len(broker.log)}")

    # -- controller and faults ------------------------------------------------------------------

    def deliver(self, broker: Replica) -> None:
        """Deliver the controller's oldest word to a broker."""
        if not broker.alive or not self.undelivered[broker.broker_id]:
            return
        state = self.undelivered[broker.broker_id].pop(0)
        if state.leader_epoch <= broker.leader_epoch:
            return
        broker.leader_epoch, broker.leader, broker.view = state.leader_epoch, state.leader, None
        self._forget_fetch(broker)
        self.lost_writes.pop(broker.broker_id, None)
        self.note(f"{broker.broker_id} learns {state}")
        if state.leader == broker.broker_id:
            broker.epochs.assign(state.leader_epoch, len(broker.log))
            broker.view = LeaderView(
                broker.broker_id,
                state,
                self.assignment,
                log_end_offset=len(broker.log),
                high_watermark=broker.high_watermark,
                now=self.now,
            )
        else:
            self.become_follower(broker)

    def become_follower(self, broker: Replica) -> None:
        """Do what a follower does at a new epoch: nothing; its next fetch reconciles."""

    def crash(self, broker: Replica) -> None:
        """End a process; its log stays, and what it had written to ZooKeeper may still arrive."""
        if broker.alive:
            self.note(f"{broker.broker_id} crashes")
            broker.alive, broker.view, broker.leader_epoch = False, None, -1
            self.undelivered[broker.broker_id].clear()
            self._forget_fetch(broker)

    def restart(self, broker: Replica) -> None:
        """Start the process again; the controller tells it the state of the partition."""
        if not broker.alive:
            self.note(f"{broker.broker_id} restarts")
            broker.alive, broker.leader = True, NO_LEADER
            self._change_state(self.znode.leader, self.znode.isr)

    def elect(self, _: Replica) -> None:
        """Let the controller see who is dead; it may also move the leader among the living ISR."""
        live_isr = tuple(b for b in self.znode.isr if self.replicas[b].alive)
        if not live_isr:
            if self.znode.has_leader:
                self._change_state(NO_LEADER, self.znode.isr)
            return
        leader = self.random.choice(live_isr)
        if (
            self.znode.leader in live_isr
            and live_isr == self.znode.isr
            and self.random.random() < 0.7
        ):
            return
        self._change_state(leader, live_isr)

    def _change_state(self, leader: int, isr: tuple[int, ...]) -> None:
        if leader != NO_LEADER and not self.replicas[leader].alive:
            leader = NO_LEADER
        self.znode = LeaderAndIsr(
            leader=leader,
            leader_epoch=self.znode.leader_epoch + 1,
            isr=isr,
            controller_epoch=1,
            zk_version=self.znode.zk_version + 1,
        )
        self.note(f"controller: {self.znode}")
        self._tell_everyone()
        elected = self.replicas.get(leader)
        if elected is not None:
            log = [record.value for record in elected.log[: len(self.committed)]]
            if log != self.committed:
                self._violation = f"P3: {leader} is elected without {len(self.committed)} records"

    def _tell_everyone(self) -> None:
        for broker_id, replica in self.replicas.items():
            if replica.alive:
                self.undelivered[broker_id].append(self.znode)

    def _forget_fetch(self, broker: Replica) -> None:
        self.fetches = [fetch for fetch in self.fetches if fetch.follower != broker.broker_id]

    # -- predicates -----------------------------------------------------------------------------

    def violation(self) -> str | None:
        """Return the first of P2, P6 and P7 that does not hold."""
        for broker in self.replicas.values():
            epochs = [record.epoch for record in broker.log]
            if epochs != sorted(epochs):
                return f"P6: epochs decrease in the log of {broker.broker_id}"
            if any(entry.start_offset > len(broker.log) for entry in broker.epochs.entries):
                return f"P6: {broker.broker_id} remembers epochs of what it does not have"
            if broker.view is None:
                continue
            mark = broker.view.high_watermark
            own = [record.value for record in broker.log[:mark]]
            for member in self.znode.isr:
                if [record.value for record in self.replicas[member].log[:mark]] != own:
                    rule = "P7" if broker.leader_epoch == self.znode.leader_epoch else "P2"
                    return f"{rule}: {member}, in the ISR, lacks what {broker.broker_id} committed"
        return None
