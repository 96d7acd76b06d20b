"""What a set asks an ensemble, and what it may claim there."""

import random
from dataclasses import replace

from ballast.brokersets.steps.ensemble import EnsembleAnswer
from ballast.kube.runtime.ensembles import (
    OUTDATED_S,
    PERIOD_S,
    EnsembleAsker,
    PacedAsker,
    Question,
    ask_nobody,
)
from ballast.znodes import cluster_id, owner
from ballast.znodes.owner import Owner
from tests.fakes.clocks import YieldingClock
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.brokersets.builders import broker_set

OURS = Owner(namespace="kafka", name="prod", uid="u-1")
BEFORE = replace(OURS, uid="u-0")
OTHER = Owner(namespace="kafka", name="other", uid="u-9")
QUESTION = Question(
    connect_string="zk:2181/prod",
    session_timeout_s=6.0,
    claimant=OURS,
    is_new=True,
    is_bound=False,
)


class Environment:
    def __init__(self, *, held_by: Owner | None = None, topic: bool = False) -> None:
        self.zookeeper = FakeZooKeeper(random.Random(1))
        self.zookeeper.put("/brokers")
        self.zookeeper.put("/brokers/topics")
        self.zookeeper.put(cluster_id.PARENT)
        self.zookeeper.put(cluster_id.PATH, cluster_id.encode("abc"))
        if held_by is not None:
            self.zookeeper.put(owner.PARENT)
            self.zookeeper.put(owner.PATH, owner.encode(held_by))
        if topic:
            self.zookeeper.put("/brokers/topics/t")
        self.ask = EnsembleAsker(zookeeper_for=lambda *_: self.zookeeper.factory("operator"))

    async def owner(self) -> Owner | None:
        client = self.zookeeper.factory("test")()
        await client.start()
        found = await client.multi_read([owner.PATH])
        await client.close()
        return None if found[0] is None else owner.decode(found[0][0])


async def test_a_new_set_claims_a_path_that_is_free() -> None:
    env = Environment()
    assert await env.ask(QUESTION) == EnsembleAnswer(cluster_id="abc")
    assert await env.owner() == OURS


async def test_a_path_of_another_set_is_left_alone() -> None:
    env = Environment(held_by=OTHER)
    answer = await env.ask(QUESTION)
    assert answer.other_owner == "kafka/other"
    assert await env.owner() == OTHER


async def test_a_set_that_was_made_again_takes_over_with_its_volumes() -> None:
    env = Environment(held_by=BEFORE, topic=True)
    answer = await env.ask(replace(QUESTION, is_new=False))
    assert answer == EnsembleAnswer(cluster_id="abc", has_topics=True)
    assert await env.owner() == OURS


async def test_a_set_that_was_made_again_without_volumes_takes_no_topics_over() -> None:
    for held_by in (BEFORE, None):
        env = Environment(held_by=held_by, topic=True)
        assert (await env.ask(QUESTION)).has_topics
        assert await env.owner() == held_by


async def test_a_set_that_has_a_cluster_writes_nothing_into_another_ensemble() -> None:
    env = Environment()
    await env.ask(replace(QUESTION, is_new=False, is_bound=True))
    assert await env.owner() is None


async def test_what_cannot_be_read_is_said() -> None:
    env = Environment()
    env.zookeeper.put(owner.PARENT)
    env.zookeeper.put(owner.PATH, b"nonsense")
    answer = await env.ask(QUESTION)
    assert answer.error is not None
    assert answer.error.startswith("zk:2181/prod cannot be read")


async def test_an_answer_stands_for_a_while() -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> EnsembleAnswer:
        asked.append(question)
        return await ask_nobody(question)

    clock = YieldingClock()
    asker = PacedAsker(ask, clock)
    spec = broker_set()
    for _ in range(3):
        answer = await asker.answer(spec, is_new=True, is_bound=False)
    assert answer.error == "zk:2181/prod is not asked"
    assert len(asked) == 1
    await asker.answer(spec, is_new=False, is_bound=False)
    assert len(asked) == 2, "another question"
    clock.seconds += PERIOD_S
    await asker.answer(spec, is_new=False, is_bound=False)
    assert len(asked) == 3


async def test_an_answer_from_before_the_brokers_began_stands_for_a_moment_only() -> None:
    found = [EnsembleAnswer(), EnsembleAnswer(cluster_id="abc")]

    async def ask(_: Question) -> EnsembleAnswer:
        return found.pop(0)

    clock = YieldingClock()
    asker = PacedAsker(ask, clock)
    spec = broker_set()
    await asker.answer(spec, is_new=False, is_bound=False)
    clock.seconds += OUTDATED_S
    answer = await asker.answer(spec, is_new=False, is_bound=False)
    assert answer.cluster_id is None, "no broker has answered yet"
    answer = await asker.answer(spec, is_new=False, is_bound=False, brokers_answer=True)
    assert answer.cluster_id == "abc"
    clock.seconds += OUTDATED_S
    again = await asker.answer(spec, is_new=False, is_bound=False, brokers_answer=True)
    assert again == answer
