from collections.abc import Mapping

from ballast.model.ids import TopicPartition
from ballast.reassign.decision.throttle_plan import Throttling, own_entries, throttle_change
from ballast.reassign.plan.plan import Plan, PlannedMove
from ballast.reassign.state.persisted_state import PersistedState
from ballast.reassign.throttle.throttle_lists import MAX_LIST_BYTES, is_good_enough, named_moves
from ballast.reassign.throttle.throttle_values import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    TOPIC_THROTTLES,
    WILDCARD,
    Values,
)
from tests.unit.reassign.builders import observation

RATE = 1000


def plan_of(partitions: int) -> Plan:
    names = [TopicPartition("t", number) for number in range(partitions)]
    return Plan.of(dict.fromkeys(names, (14, 15, 16)), dict.fromkeys(names, (11, 12, 13)))


class Written:
    """One topic's lists while its moves complete, and what is written of them."""

    def __init__(self, partitions: int) -> None:
        self.persisted_state = PersistedState(
            name="move",
            plan=plan_of(partitions),
            start_time_ms=1,
            topic_throttles={"t": dict.fromkeys(TOPIC_THROTTLES)},
        )
        self.ours = own_entries(self.persisted_state)
        self.lists: dict[str, str] = {}
        self.writes = self.bytes = self.longest = 0

    def visit(self, moves: tuple[PlannedMove, ...]) -> frozenset[TopicPartition]:
        """Write what is to be written; return the moves that are throttled then."""
        named = named_moves(moves, (), {"t": self.lists}, self.ours)
        throttling = Throttling.of(RATE, moves, named)
        seen = observation(topic_configs={"t": self.lists}, broker_configs={})
        self._write(throttle_change(self.persisted_state, throttling, seen).topics)
        sources = {f"{tp.partition}:{broker}" for tp in named for broker in (11, 12, 13)}
        assert sources <= set(self.lists.get(LEADER_REPLICAS, "").split(","))
        return named

    def _write(self, topics: Mapping[str, Values]) -> None:
        for values in topics.values():
            self.writes += 1
            for name, value in values.items():
                self.lists.pop(name, None)
                if value is not None:
                    self.lists[name] = value
                    self.bytes += len(value)
                    self.longest = max(self.longest, len(value))


def test_the_lists_of_2000_partitions_are_written_a_few_times() -> None:
    """Once would be 66 KB: after each visit that sees some complete it was 2.7 MB and more."""
    written = Written(2000)
    moves = written.persisted_state.plan.moves
    while moves:
        named = written.visit(moves)
        done = set(sorted(named)[:50])
        assert done
        moves = tuple(move for move in moves if move.topic_partition not in done)
    written.visit(())
    assert written.lists == {}
    assert written.writes <= 30
    assert written.bytes <= 700_000
    assert written.longest <= MAX_LIST_BYTES


def test_what_fits_is_named_at_once_and_cleared_at_the_end() -> None:
    written = Written(100)
    moves = written.persisted_state.plan.moves
    while moves:
        assert len(written.visit(moves)) == len(moves)
        moves = moves[5:]
    written.visit(())
    assert written.lists == {}
    assert written.writes <= 12


def test_a_piece_of_a_large_list_follows_another() -> None:
    moves = plan_of(10_000).moves
    first = named_moves(moves, (), {}, {})
    assert 0 < len(first) < 2000
    lists = {"t": dict.fromkeys(TOPIC_THROTTLES, "") | {FOLLOWER_REPLICAS: WILDCARD}}
    assert named_moves(moves, (), lists, {}) == first
    late = moves[-1].topic_partition
    assert late not in first
    assert late in named_moves(moves, {late}, {}, {}), "what is under way is named"


def test_entries_of_others_take_room() -> None:
    moves = plan_of(2000).moves
    others = ",".join(f"{number}:99" for number in range(2500))
    with_others = named_moves(moves, (), {"t": {LEADER_REPLICAS: others}}, {})
    assert 0 < len(with_others) < len(named_moves(moves, (), {}, {}))


def test_a_list_is_good_enough_until_a_quarter_is_spent() -> None:
    ours = ("0:1", "1:1", "2:1", "3:1", "4:1")
    now = ",".join((*ours, "9:9"))
    assert is_good_enough(now, None, ours, ours)
    assert is_good_enough(now, None, ours[1:], ours)
    assert not is_good_enough(now, None, ours[2:], ours)
    assert is_good_enough(now, "0:1,9:9", ours[1:], ours), "what was there before stays"
    assert not is_good_enough("0:1", None, ours, ours), "not all are named"
    assert not is_good_enough(now, None, (), ours), "it is to be cleared"
