"""Which throttle values the cluster must have now, and what must be saved before they are set.

One rule serves setting, editing and restoring: compare the current values with the required ones
and change the difference. If a broker does not answer, its values remain *unrestored*: they are
tried again at each reconciliation, delay nothing else, and are named until they are restored.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.decision_input import Observation, TransientState
from ballast.reassign.plan.plan import PlannedMove
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.throttle.throttle_lists import is_good_enough
from ballast.reassign.throttle.throttle_values import (
    BROKER_RATES,
    LOG_DIRS_RATE,
    TOPIC_THROTTLES,
    Movement,
    Values,
    changes,
    moving_brokers,
    planned_movement,
    rate_values,
    target_list,
    topic_entries,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """The throttle that must be in force."""

    bytes_per_second: int | None
    """None = no throttle."""
    movement: Mapping[TopicPartition, Movement]
    """The moves that copy bytes and are not complete; empty without a throttle."""
    unnamed: frozenset[TopicPartition] = frozenset()
    """Those moves that do not fit into the list of their topic yet: none of them is pending, and
    none may start."""
    copying_within: frozenset[int] = frozenset()
    """Brokers that copy replicas between their own log directories."""

    @classmethod
    def of(
        cls,
        bytes_per_second: int | None,
        moves: Iterable[PlannedMove],
        named: Container[TopicPartition] | None = None,
    ) -> "Throttling":
        """Return the throttle for unfinished moves; lists name all of them by default."""
        if bytes_per_second is None:
            return cls(bytes_per_second=None, movement={})
        known = tuple(moves)
        movement = planned_movement(known)
        in_state = frozenset(broker for move in known for broker in move.moving_within)
        return cls(
            bytes_per_second=bytes_per_second if movement or in_state else None,
            movement=movement,
            unnamed=frozenset(() if named is None else (tp for tp in movement if tp not in named)),
            copying_within=in_state,
        )

    @property
    def named(self) -> dict[TopicPartition, Movement]:
        """The moves that the lists of their topics must name."""
        return {tp: move for tp, move in self.movement.items() if tp not in self.unnamed}

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers whose rates are set."""
        return tuple(sorted(self.copying_within.union(moving_brokers(self.movement))))

    def rates(self) -> dict[int, dict[str, str]]:
        """Return the values to be set on each broker."""
        if self.bytes_per_second is None:
            return {}
        sending = frozenset(moving_brokers(self.movement))
        return {
            broker: rate_values(
                self.bytes_per_second,
                (
                    *(BROKER_RATES if broker in sending else ()),
                    *((LOG_DIRS_RATE,) if broker in self.copying_within else ()),
                ),
            )
            for broker in self.brokers
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ThrottleChange:
    """Configuration values to set, or to delete where None."""

    topics: Mapping[str, Values] = field(default_factory=dict)
    brokers: Mapping[int, Values] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.topics or self.brokers)


def with_saved_throttles(
    state: PersistedState,
    throttling: Throttling,
    observation: Observation,
    transient: TransientState,
) -> PersistedState | None:
    """Return the state with the values that ``throttling`` will overwrite, or None if it has them.

    The values of a broker that does not answer are saved once it does; until then nothing is set on
    it. The same holds for a broker whose rate changed moments ago: the rate may belong to another
    reassignment, which could not restore it while the broker was down and is about to.
    """
    topics = dict(state.topic_throttles)
    for topic in topic_entries(throttling.movement):
        if topic in observation.topic_configs and topic not in topics:
            now = observation.topic_configs[topic]
            topics[topic] = {name: now.get(name) for name in TOPIC_THROTTLES}
    brokers = dict(state.broker_throttles)
    for broker, rates in throttling.rates().items():
        is_settled = broker in brokers or broker not in transient.brokers_with_new_rates
        if broker in observation.broker_configs and is_settled:
            now = observation.broker_configs[broker]
            brokers[broker] = {
                **{name: now.get(name) for name in rates},
                **brokers.get(broker, {}),
            }
    if topics == state.topic_throttles and brokers == state.broker_throttles:
        return None
    return replace(state, topic_throttles=topics, broker_throttles=brokers)


def throttle_change(
    state: PersistedState,
    throttling: Throttling,
    observation: Observation,
    *,
    all_values: bool = False,
) -> ThrottleChange:
    """Return the change that puts ``throttling`` into force and restores all other values.

    With ``all_values`` it has the values that seem to be right, too: a broker shows a change some
    time after it has acknowledged it, and a throttle that is not shown yet must not stay.
    """
    active = topic_entries(throttling.named)
    universe = own_entries(state)
    topics: dict[str, Values] = {}
    for topic, before in sorted(state.topic_throttles.items()):
        now = observation.topic_configs.get(topic)
        if now is None:
            continue
        needed = active.get(topic, {})
        ours = universe.get(topic, frozenset())
        if needed and all(
            is_good_enough(now.get(name), before.get(name), needed[name], ours)
            for name in TOPIC_THROTTLES
        ):
            continue
        target = {
            name: target_list(
                now=now.get(name),
                before=before.get(name),
                active=needed.get(name, frozenset()),
                ours=ours,
            )
            for name in TOPIC_THROTTLES
        }
        change = target if all_values else changes(now, target)
        if change:
            topics[topic] = change
    return ThrottleChange(
        topics=topics, brokers=_broker_changes(state, throttling, observation, all_values)
    )


def _broker_changes(
    state: PersistedState, throttling: Throttling, observation: Observation, all_values: bool
) -> dict[int, Values]:
    rates = throttling.rates()
    brokers: dict[int, Values] = {}
    for broker, before in sorted(state.broker_throttles.items()):
        now = observation.broker_configs.get(broker)
        if now is None:
            continue
        target = {**before, **rates.get(broker, {})}
        change = target if all_values else changes(now, target)
        if change:
            brokers[broker] = change
    return brokers


def unrestored_throttles(
    state: PersistedState, observation: Observation, transient: TransientState
) -> tuple[str, ...]:
    """Return the brokers and topics whose values could not be read, and so not be restored."""
    deleted_topics = {tp.topic for tp in transient.deleted}
    return (
        *(
            f"broker {b}"
            for b in sorted(state.broker_throttles)
            if b not in observation.broker_configs and b not in transient.restored_brokers
        ),
        *(
            f"topic {topic}"
            for topic in sorted(state.topic_throttles)
            if topic not in observation.topic_configs and topic not in deleted_topics
        ),
    )


def without_restored_throttles(
    state: PersistedState, observation: Observation, transient: TransientState
) -> PersistedState:
    """Return the state without the values that have been restored."""
    deleted_topics = {tp.topic for tp in transient.deleted}
    move_states = observation.topic_configs
    return replace(
        state,
        topic_throttles={
            topic: values
            for topic, values in state.topic_throttles.items()
            if topic not in move_states and topic not in deleted_topics
        },
        broker_throttles={
            broker: values
            for broker, values in state.broker_throttles.items()
            if broker not in observation.broker_configs and broker not in transient.restored_brokers
        },
    )


def unthrottled_brokers(
    state: PersistedState, throttling: Throttling, observation: Observation
) -> frozenset[int]:
    """Return live brokers whose throttle may not be set: no move may start there."""
    return frozenset(
        broker
        for broker in throttling.brokers
        if broker in observation.live_brokers
        and not (broker in observation.broker_configs and broker in state.broker_throttles)
    )


def own_entries(state: PersistedState) -> dict[str, frozenset[str]]:
    """Return, by topic, all list entries that this reassignment may have added."""
    entries: dict[str, set[str]] = {}
    for move in state.plan.moves:
        tp = move.topic_partition
        entries.setdefault(tp.topic, set()).update(
            f"{tp.partition}:{broker}" for broker in (*move.origin, *move.target)
        )
    return {topic: frozenset(names) for topic, names in entries.items()}
