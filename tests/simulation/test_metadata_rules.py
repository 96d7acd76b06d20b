"""Each rule against a hand-made transaction that breaks it."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import NO_LEADER, TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.znodes import controller, controller_epoch, partition_states, topics
from tests.fakes.zookeeper_tree import AppliedOperation
from tests.simulation.metadata_rules import MetadataRules, throttles_left
from tests.simulation.violations import InvariantViolation

T0 = TopicPartition("t", 0)
STATE = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2, 3), controller_epoch=1)
CHECK = AppliedOperation("check", controller_epoch.PATH, version=1)


def state_write(state: LeaderAndIsr, name: str = "set") -> AppliedOperation:
    data = partition_states.encode(state)
    return AppliedOperation(name, partition_states.path(T0), data, state.zk_version)


def topic_write(assignment: ReplicaAssignment) -> AppliedOperation:
    topic = TopicAssignment(topic="t", topic_id=None, partitions={0: assignment})
    return AppliedOperation("set", topics.path("t"), topics.encode(topic))


def election(epoch: int) -> list[AppliedOperation]:
    return [
        AppliedOperation("create", controller.PATH, b"{}", 0, is_ephemeral=True),
        AppliedOperation("set", controller_epoch.PATH, controller_epoch.encode(epoch), epoch),
    ]


@pytest.fixture
def rules() -> MetadataRules:
    """Return rules that have seen an election, and a partition on brokers 1, 2 and 3."""
    rules = MetadataRules(
        lambda host: host.startswith("candidate"),
        lambda host: int(host.removeprefix("broker-")) if host.startswith("broker") else None,
    )
    rules.min_insync_replicas["t"] = 2
    rules.apply("candidate-1", election(1))
    rules.apply("candidate-1", [CHECK, topic_write(ReplicaAssignment.of(1, 2, 3))])
    rules.apply("candidate-1", [CHECK, state_write(STATE, "create")])
    return rules


def broken(rules: MetadataRules, host: str, operations: Sequence[AppliedOperation]) -> str:
    with pytest.raises(InvariantViolation) as caught:
        rules.apply(host, operations)
    return caught.value.rule


class TestController:
    def test_every_write_checks_the_epoch(self, rules: MetadataRules) -> None:
        write = state_write(replace(STATE, leader_epoch=6, zk_version=1))

        assert broken(rules, "candidate-1", [write]) == "C1"

    def test_a_deposed_controller_elects_nobody(self, rules: MetadataRules) -> None:
        rules.apply("candidate-2", election(2))
        write = state_write(replace(STATE, leader_epoch=6, zk_version=1))

        assert broken(rules, "candidate-1", [CHECK, write]) == "C1"

    @pytest.mark.parametrize("operations", [election(1), election(3), election(2)[:1]])
    def test_an_election_raises_the_epoch_by_one(
        self, rules: MetadataRules, operations: list[AppliedOperation]
    ) -> None:
        assert broken(rules, "candidate-2", operations) == "C2"


class TestStates:
    @pytest.mark.parametrize(
        ("state", "rule"),
        [
            (replace(STATE, leader_epoch=4, zk_version=1), "C3"),
            (replace(STATE, leader_epoch=6, zk_version=2), "C3"),
            (replace(STATE, leader=2, zk_version=1), "C3"),
            (replace(STATE, leader=4, isr=(4,), leader_epoch=6, zk_version=1), "C4"),
            (replace(STATE, isr=(1, 2, 3, 4), leader_epoch=6, zk_version=1), "C4"),
            (replace(STATE, isr=(), leader=NO_LEADER, leader_epoch=6, zk_version=1), "C5"),
            (replace(STATE, leader=1, isr=(2, 3), leader_epoch=6, zk_version=1), "C5"),
        ],
        ids=["epoch", "version", "two leaders", "unclean", "grown", "empty", "leader outside"],
    )
    def test_of_the_controller(self, rules: MetadataRules, state: LeaderAndIsr, rule: str) -> None:
        assert broken(rules, "candidate-1", [CHECK, state_write(state)]) == rule

    def test_an_unclean_election_that_was_asked_for(self, rules: MetadataRules) -> None:
        lost = replace(STATE, leader=NO_LEADER, isr=(1,), leader_epoch=6, zk_version=1)
        rules.apply("candidate-1", [CHECK, state_write(lost)])
        elected = [
            CHECK,
            state_write(replace(STATE, leader=2, isr=(2,), leader_epoch=7, zk_version=2)),
        ]

        assert broken(rules, "candidate-1", elected) == "C4"
        rules.unclean.add(T0)
        grown = [
            CHECK,
            state_write(replace(STATE, leader=2, isr=(2, 3), leader_epoch=7, zk_version=2)),
        ]
        assert broken(rules, "candidate-1", grown) == "C4"
        assert rules.apply("candidate-1", elected) == [T0]
        assert rules.unclean == set()

    def test_only_the_leader_changes_its_isr(self, rules: MetadataRules) -> None:
        write = state_write(replace(STATE, isr=(1, 2), zk_version=1))

        assert broken(rules, "broker-2", [write]) == "C4"
        assert rules.apply("broker-1", [write]) == [T0]


class TestMoves:
    MOVING = ReplicaAssignment.of(1, 2, 3).reassign_to((4, 5, 6))
    IN_SYNC = replace(STATE, leader_epoch=6, zk_version=2, isr=(1, 2, 3, 4, 5, 6))

    def start(self, rules: MetadataRules) -> None:
        rules.apply("candidate-1", [CHECK, topic_write(self.MOVING)])
        rules.apply(
            "candidate-1", [CHECK, state_write(replace(STATE, leader_epoch=6, zk_version=1))]
        )

    def test_runs_through_in_kafkas_order(self, rules: MetadataRules) -> None:
        self.start(rules)
        rules.apply("broker-1", [state_write(self.IN_SYNC)])
        shrunk = replace(STATE, leader=4, isr=(4, 5, 6), leader_epoch=7, zk_version=3)
        rules.apply("candidate-1", [CHECK, state_write(shrunk)])
        rules.apply("candidate-1", [CHECK, topic_write(ReplicaAssignment.of(4, 5, 6))])

        assert rules.completed_moves == 1
        assert not rules.moves

    def test_replicas_are_never_exchanged_at_once(self, rules: MetadataRules) -> None:
        write = topic_write(ReplicaAssignment.of(4, 5, 6))

        assert broken(rules, "candidate-1", [CHECK, write]) == "R9"

    def test_data_is_deleted_only_when_it_is_not_needed_any_more(
        self, rules: MetadataRules
    ) -> None:
        self.start(rules)
        for broker in (4, 7):
            rules.replica_deleted(broker, T0)
        with pytest.raises(InvariantViolation):
            rules.replica_deleted(1, T0)
        rules.apply("broker-1", [state_write(self.IN_SYNC)])
        with pytest.raises(InvariantViolation):
            rules.replica_deleted(4, T0)
        shrunk = replace(STATE, leader=4, isr=(4, 5, 6), leader_epoch=7, zk_version=3)
        rules.apply("candidate-1", [CHECK, state_write(shrunk)])
        rules.replica_deleted(1, T0)

    def test_a_target_that_never_was_in_sync_does_not_complete(self, rules: MetadataRules) -> None:
        self.start(rules)
        write = topic_write(ReplicaAssignment.of(4, 5, 6))

        assert broken(rules, "candidate-1", [CHECK, write]) == "R1"

    def test_the_topic_is_not_settled_before_the_old_replicas_left_the_isr(
        self, rules: MetadataRules
    ) -> None:
        self.start(rules)
        rules.apply("broker-1", [state_write(self.IN_SYNC)])
        write = topic_write(ReplicaAssignment.of(4, 5, 6))

        assert broken(rules, "candidate-1", [CHECK, write]) == "R4"

    def test_an_override_keeps_the_origin(self, rules: MetadataRules) -> None:
        self.start(rules)
        lost = ReplicaAssignment.of(4, 5, 6).reassign_to((7, 8, 9))

        assert broken(rules, "candidate-1", [CHECK, topic_write(lost)]) == "R2"
        rules.apply("candidate-1", [CHECK, topic_write(self.MOVING.reassign_to((7, 8, 9)))])

    def test_a_move_does_not_end_below_min_isr_by_its_own_doing(self, rules: MetadataRules) -> None:
        self.start(rules)
        rules.apply("broker-1", [state_write(self.IN_SYNC)])
        lagging = replace(self.IN_SYNC, isr=(1, 2, 3, 4), zk_version=3)
        rules.apply("broker-1", [state_write(lagging)])
        shrunk = replace(STATE, leader=4, isr=(4,), leader_epoch=7, zk_version=4)
        rules.apply("candidate-1", [CHECK, state_write(shrunk)])
        write = topic_write(ReplicaAssignment.of(4, 5, 6))

        assert broken(rules, "candidate-1", [CHECK, write]) == "R3"

    def test_a_cancel_leaves_an_in_sync_replica(self, rules: MetadataRules) -> None:
        self.start(rules)
        rules.apply("broker-1", [state_write(self.IN_SYNC)])
        only_new = replace(STATE, leader=4, isr=(4, 5), leader_epoch=7, zk_version=3)
        rules.apply("candidate-1", [CHECK, state_write(only_new)])
        write = topic_write(ReplicaAssignment.of(1, 2, 3))

        assert broken(rules, "candidate-1", [CHECK, write]) == "R7"

    def test_deletion_ends_a_move(self, rules: MetadataRules) -> None:
        self.start(rules)
        rules.apply("candidate-1", [CHECK, AppliedOperation("delete", topics.path("t"))])

        assert not rules.moves


@pytest.mark.parametrize(
    ("leader", "epoch"), [(1, STATE.leader_epoch + 1), (2, STATE.leader_epoch)]
)
def test_a_broker_is_told_of_nothing_that_is_not_stored(
    rules: MetadataRules, leader: int, epoch: int
) -> None:
    rules.obeyed(2, T0, STATE.leader, STATE.leader_epoch)
    rules.obeyed(2, T0, 3, STATE.leader_epoch - 1)

    with pytest.raises(InvariantViolation) as caught:
        rules.obeyed(2, T0, leader, epoch)
    assert caught.value.rule == "R5"


def test_throttles_left_behind_are_found() -> None:
    configs = {
        "/config/brokers/1": {"leader.replication.throttled.rate": "1000"},
        "/config/topics/t": {"min.insync.replicas": "2"},
    }

    assert throttles_left(configs) == ["/config/brokers/1: leader.replication.throttled.rate"]
