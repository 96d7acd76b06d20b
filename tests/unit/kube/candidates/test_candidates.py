"""A candidate for each BrokerSet: started, exchanged, started again, ended."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from ballast.candidate.candidate import Candidate
from ballast.kube.api.resources import BROKER_SETS, ObjectKey
from ballast.kube.candidates.candidate_specs import CandidateSpec
from ballast.kube.candidates.candidates import RESTART_DELAYS_S, Candidates
from ballast.zk.client import ZooKeeperClient
from ballast.zk.election import ElectionLost
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

ONE = ObjectKey("brokersets", "a", "one")


def no_zookeeper() -> ZooKeeperClient:
    raise AssertionError("no session is begun here")


class IdleCandidate(Candidate):
    """Does nothing while it runs, and fails when a test asks for it."""

    def __init__(self, spec: CandidateSpec, is_cordoned: Callable[[int], bool]) -> None:
        super().__init__(
            1_000_001,
            no_zookeeper,
            listen=("127.0.0.1", 0),
            random=Random(1),
            wall_clock_ms=lambda: 0,
        )
        self.spec = spec
        self.is_cordoned = is_cordoned
        self.state = "made"
        self.failing = asyncio.Event()
        self.fails_to_leave = False

    async def run(self) -> None:
        self.state = "running"
        try:
            await self.failing.wait()
            self.state = "failed"
            raise OSError("cannot listen")
        except asyncio.CancelledError:
            self.state = "ended"
            if self.fails_to_leave:
                raise OSError("cannot close") from None
            raise


class Environment:
    def __init__(self) -> None:
        self.api = FakeKubernetes()
        self.clock = YieldingClock()
        self.made: list[IdleCandidate] = []
        self.candidates = Candidates(self.api, ["a"], self._make, self.clock)

    def _make(self, spec: CandidateSpec, is_cordoned: Callable[[int], bool]) -> Candidate:
        self.made.append(IdleCandidate(spec, is_cordoned))
        return self.made[-1]

    def put(self, name: str = "one", status: Mapping[str, Any] | None = None, **spec: Any) -> None:
        document = {
            "metadata": {"namespace": "a", "name": name},
            "spec": {"replicas": 3, "zookeeper": {"connect": "zk:2181"}, **spec},
            "status": status or {},
        }
        self.api.put(BROKER_SETS, document)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.candidates.run())
            await self.settle()
            yield
            running.cancel()

    async def settle(self) -> None:
        for _ in range(30):
            await asyncio.sleep(0)

    @property
    def states(self) -> list[str]:
        return [candidate.state for candidate in self.made]


async def test_they_come_and_go_with_their_broker_sets() -> None:
    env = Environment()
    env.put("one")
    async with env.running():
        assert env.states == ["running"]
        env.put("two", zookeeper={"connect": "zk:2181", "chroot": "/two"})
        await env.settle()
        assert [slot.key.name for slot in env.candidates.slots] == ["one", "two"]
        assert env.made[1].spec.zookeeper_connect == "zk:2181/two"
        await env.api.delete(BROKER_SETS, "a", "one")
        await env.settle()
        assert env.states == ["ended", "running"]
        assert [slot.key.name for slot in env.candidates.slots] == ["two"]
    assert env.states == ["ended", "ended"]


async def test_who_is_cordoned_is_asked_without_a_new_candidate() -> None:
    env = Environment()
    env.put(replicas=3)
    async with env.running():
        assert [env.made[0].is_cordoned(number) for number in (2, 3)] == [False, True]
        env.put(replicas=4, decommission={"brokerIds": [0]})
        await env.settle()
        assert [env.made[0].is_cordoned(number) for number in (0, 3, 4)] == [True, False, True]
        assert env.states == ["running"]


async def test_another_takes_its_place_when_what_it_is_made_of_changes() -> None:
    env = Environment()
    env.put()
    async with env.running():
        env.put(config={"unclean.leader.election.enable": "true"})
        await env.settle()
        assert env.states == ["ended", "running"]
        assert env.made[1].spec.config.unclean_leader_election_enable


async def test_settings_are_handed_over_to_the_one_that_runs() -> None:
    env = Environment()
    env.put()
    async with env.running():
        env.put(replicas=4, config={"num.partitions": "6"})
        await env.settle()
        assert env.states == ["running"]
        options = env.made[0].options.controller
        assert options.config.num_partitions == 6
        assert [options.is_cordoned(number) for number in (3, 4)] == [False, True]


async def test_another_ensemble_is_not_gone_to_before_the_cluster_was_found_there() -> None:
    env = Environment()
    known = {"zooKeeper": {"connect": "zk:2181", "clusterId": "abc"}}
    env.put(status=known)
    async with env.running():
        env.put(status=known, zookeeper={"connect": "typo:2181"})
        await env.settle()
        assert env.states == ["running"]
        found = {"zooKeeper": {"connect": "typo:2181", "clusterId": "abc"}}
        env.put(status=found, zookeeper={"connect": "typo:2181"})
        await env.settle()
        assert env.states == ["ended", "running"]
        assert env.made[1].spec.zookeeper_connect == "typo:2181"


async def test_they_stand_by_once_each_leads_or_knows_who_does() -> None:
    env = Environment()
    assert not env.candidates.is_standing_by, "nothing is known of any BrokerSet"
    env.put()
    async with env.running():
        assert not env.candidates.is_standing_by
        env.made[0].lost_to = ElectionLost(controller=None, controller_epoch=3)
        assert env.candidates.is_standing_by


async def test_one_that_fails_is_started_again_later_and_later() -> None:
    env = Environment()
    env.put()
    async with env.running():
        for _ in range(6):
            env.made[-1].failing.set()
            await env.settle()
        assert env.clock.slept == [*RESTART_DELAYS_S, RESTART_DELAYS_S[-1]]
        env.clock.seconds += 100
        env.made[-1].failing.set()
        await env.settle()
        assert env.clock.slept[-1] == RESTART_DELAYS_S[0]
        assert env.states == ["failed"] * 7 + ["running"]


@pytest.mark.parametrize("turns", range(6))
async def test_one_that_fails_as_all_are_stopped_is_not_started_again(turns: int) -> None:
    env = Environment()
    env.put()
    async with env.running():
        env.made[0].failing.set()
        for _ in range(turns):
            await asyncio.sleep(0)
    assert len(env.made) == 1


async def test_one_that_fails_as_it_is_exchanged_is_followed_by_another() -> None:
    env = Environment()
    env.put()
    async with env.running():
        env.made[0].fails_to_leave = True
        env.put(zookeeper={"connect": "other:2181"})
        await env.settle()
        assert env.states == ["ended", "running"]


async def test_none_where_none_can_be() -> None:
    env = Environment()
    env.put("bad", zookeeper={"connect": "nowhere"})
    env.api.put(
        BROKER_SETS,
        {
            "metadata": {"namespace": "a", "name": "elsewhere"},
            "spec": {"bootstrapServers": "kafka:9092"},
        },
    )
    async with env.running():
        assert env.states == []
        assert env.candidates.candidate_of(ObjectKey("brokersets", "a", "bad")) is None
        env.put("bad")
        await env.settle()
        assert env.states == ["running"]


async def test_what_went_unseen_is_noticed_when_a_watch_begins_again() -> None:
    env = Environment()
    env.put()
    async with env.running():
        assert env.candidates.candidate_of(ONE) is env.made[0]
        document = env.api.find(BROKER_SETS, "a", "one")
        assert document is not None
        # The watch was broken while the object was deleted and made again.
        env.api._objects[BROKER_SETS].clear()
        env.api.relist()
        await env.settle()
        assert env.states == ["ended"]
        env.put()
        await env.settle()
        assert env.states == ["ended", "running"]


async def test_one_of_the_same_name_is_another() -> None:
    env = Environment()
    env.put()
    async with env.running():
        env.api._objects[BROKER_SETS].clear()
        env.put()
        await env.settle()
        assert env.states == ["ended", "running"]
        assert env.candidates.slots[0].epoch is None
