"""Conditional writes: versions, epochs, rounds, and the fence in the states themselves."""

import pytest
from msgspec.structs import replace

from ballast.controller.errors import ControllerMoved, StateChangeFailed
from ballast.controller.machines.leader_and_isr_updater import MAX_ROUNDS, LeaderAndIsrUpdater
from ballast.controller.state.context import ControllerContext
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from tests.fakes.metadata_store import Effects, FakeMetadata, FakeMetadataStore

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)
STATE = LeaderAndIsr(leader=1, leader_epoch=4, isr=(1, 2), controller_epoch=3)


class Harness:
    def __init__(self) -> None:
        self.metadata = FakeMetadata(controller_epoch=5)
        self.store = FakeMetadataStore(self.metadata, Effects(), controller_epoch=5)
        self.context = ControllerContext(controller_id=1, controller_epoch=5)
        self.writer = LeaderAndIsrUpdater(self.context, self.store)
        self.metadata.put_state(T0, STATE)


async def test_a_write_raises_the_epoch_and_signs_it() -> None:
    harness = Harness()
    outcome = await harness.writer.rewrite([T0], lambda _, stored: replace(stored, leader=2))
    expected = replace(STATE, leader=2, leader_epoch=5, controller_epoch=5, zk_version=1)
    assert outcome.states == {T0: expected}
    assert harness.metadata.states == harness.context.leadership == {T0: expected}


async def test_a_stale_write_is_decided_anew() -> None:
    harness = Harness()
    harness.store.conflicts = [(T0, (1,)), (T0, (1, 3))]
    seen: list[tuple[int, ...]] = []

    def decide(_: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr:
        seen.append(stored.isr)
        return stored

    outcome = await harness.writer.rewrite([T0], decide)
    assert seen == [(1, 2), (1,), (1, 3)]
    assert outcome.states[T0].isr == (1, 3)
    assert outcome.states[T0].leader_epoch == 5


async def test_only_stale_partitions_are_tried_again() -> None:
    harness = Harness()
    harness.metadata.put_state(T1, STATE)
    harness.store.conflicts = [(T0, (1,))]
    outcome = await harness.writer.raise_epochs([T1, T0])
    assert {tp: state.leader_epoch for tp, state in outcome.states.items()} == {T0: 5, T1: 5}


async def test_rounds_are_bounded() -> None:
    harness = Harness()
    harness.store.conflicts = [(T0, (1, 2))] * (MAX_ROUNDS + 1)
    outcome = await harness.writer.raise_epochs([T0])
    assert outcome.states == {}
    assert "changed under each" in str(outcome.failed[T0])
    assert list(harness.context.failures) == [outcome.failed[T0]]
    assert harness.store.calls.count("update_leadership") == MAX_ROUNDS


async def test_leaving_a_state_alone_refreshes_memory_only() -> None:
    harness = Harness()
    outcome = await harness.writer.rewrite([T0], lambda _, __: None)
    assert outcome.states == harness.context.leadership == {T0: STATE}
    assert "update_leadership" not in harness.store.calls


async def test_what_was_written_a_moment_ago_is_not_read_again_to_be_left_alone() -> None:
    harness = Harness()
    harness.metadata.put_state(T1, STATE)
    written = (await harness.writer.raise_epochs([T0, T1])).states
    harness.store.calls.clear()
    harness.metadata.change_isr(T0, 1)
    harness.metadata.change_isr(T1, 1)
    outcome = await harness.writer.rewrite([T0, T1], lambda _, __: None, just_written={T0})
    assert outcome.states == {T0: written[T0], T1: harness.metadata.states[T1]}
    assert harness.store.calls == ["read_leadership"]


async def test_failures_stay_with_their_partition() -> None:
    harness = Harness()

    def decide(_: TopicPartition, __: LeaderAndIsr) -> LeaderAndIsr:
        raise StateChangeFailed("no candidate")

    outcome = await harness.writer.rewrite([T0, T1], decide)
    assert {tp: str(failure) for tp, failure in outcome.failed.items()} == {
        T0: "no candidate",
        T1: "t-1 has no stored state",
    }
    assert harness.metadata.states == {T0: STATE}


async def test_a_state_of_a_later_controller_ends_this_one() -> None:
    harness = Harness()
    harness.metadata.put_state(T0, replace(STATE, controller_epoch=6))
    with pytest.raises(ControllerMoved):
        await harness.writer.raise_epochs([T0])
    assert harness.context.leadership == {}


async def test_a_first_state_does_not_replace_one_that_exists() -> None:
    harness = Harness()
    first = LeaderAndIsr(leader=3, leader_epoch=0, isr=(3,), controller_epoch=5)
    written, existing = await harness.writer.create({T0: first, T1: first})
    assert (list(written), list(existing)) == ([T1], [T0])
    assert harness.context.leadership == {T0: STATE, T1: first}


async def test_nothing_to_do_calls_nothing() -> None:
    harness = Harness()
    assert await harness.writer.read([]) == {}
    assert await harness.writer.create({}) == ((), ())
    assert harness.store.calls == []


async def test_what_memory_gets_right_is_written_without_reading() -> None:
    harness = Harness()
    await harness.writer.read([T0])
    harness.store.calls.clear()
    outcome = await harness.writer.rewrite([T0], lambda _, stored: stored.led_by(2, (2,)))
    assert (outcome.states[T0].leader, outcome.states[T0].isr) == (2, (2,))
    assert harness.metadata.states == outcome.states
    assert harness.store.calls == ["update_leadership"]


async def test_what_memory_gets_wrong_is_decided_on_what_is_stored() -> None:
    harness = Harness()
    await harness.writer.read([T0])
    harness.metadata.change_isr(T0, 1)
    outcome = await harness.writer.rewrite([T0], lambda _, stored: stored)
    assert harness.metadata.states[T0].isr == outcome.states[T0].isr == (1,)
    assert outcome.states[T0].leader_epoch == 5


async def test_a_failure_on_what_memory_says_is_judged_by_what_is_stored() -> None:
    harness = Harness()
    await harness.writer.read([T0])
    harness.metadata.change_isr(T0, 1, 2, 3)

    def only_with_three(_: TopicPartition, stored: LeaderAndIsr) -> LeaderAndIsr:
        if 3 not in stored.isr:
            raise StateChangeFailed("3 is not in sync")
        return stored.led_by(3, stored.isr)

    outcome = await harness.writer.rewrite([T0], only_with_three)
    assert (outcome.failed, outcome.states[T0].leader) == ({}, 3)
