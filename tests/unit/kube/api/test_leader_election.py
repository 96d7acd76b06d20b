"""Who holds the Lease, as two processes see it."""

import asyncio
from typing import Any

import pytest

from ballast.kube.api.errors import ApiUnavailable, LeaseLost
from ballast.kube.api.leader_election import NAME, LeaseElector, LeaseObservation, LeaseTiming
from ballast.kube.api.resources import LEASES
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

TIMING = LeaseTiming()


class Environment:
    def __init__(self) -> None:
        self.api = FakeKubernetes()
        self.clock = YieldingClock()
        self.one = self.elector("one")
        self.two = self.elector("two")

    def elector(self, identity: str) -> LeaseElector:
        return LeaseElector(self.api, "ops", identity, self.clock, TIMING)

    @property
    def spec(self) -> dict[str, Any]:
        lease = self.api.find(LEASES, "ops", NAME)
        assert lease is not None
        return dict(lease["spec"])


def lease(holder: str, renewed: str, duration_s: int = 15) -> dict[str, Any]:
    return {
        "spec": {
            "holderIdentity": holder, "renewTime": renewed, "leaseDurationSeconds": duration_s,
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("holder", "age_s", "may"),
    [
        ("", 0.0, True),
        ("me", 0.0, True),
        ("other", 14.9, False),
        ("other", 15.0, True),
    ],
)
def test_when_it_is_available(holder: str, age_s: float, may: bool) -> None:
    first = LeaseObservation.of(lease(holder, "t1"), None, 100.0)
    again = LeaseObservation.of(lease(holder, "t1"), first, 100.0 + age_s)
    assert again.is_available_to("me", 100.0 + age_s) is may


def test_each_renewal_starts_the_age_again() -> None:
    first = LeaseObservation.of(lease("other", "t1"), None, 100.0)
    renewed = LeaseObservation.of(lease("other", "t2"), first, 114.0)
    assert not renewed.is_available_to("me", 120.0)


def test_a_lease_without_a_spec_is_free() -> None:
    assert LeaseObservation.of({}, None, 0.0).is_available_to("me", 0.0)


async def test_the_first_makes_the_lease() -> None:
    env = Environment()
    await env.one.acquire()
    assert env.one.is_held
    assert env.spec == {
        "holderIdentity": "one",
        "leaseDurationSeconds": 15,
        "acquireTime": "2023-11-14T22:15:00.000000Z",
        "renewTime": "2023-11-14T22:15:00.000000Z",
        "leaseTransitions": 0,
    }


async def test_a_lease_left_behind_is_taken_after_its_duration() -> None:
    env = Environment()
    await env.one.acquire()
    begun_at = env.clock.now()
    await env.two.acquire()
    assert env.clock.now() - begun_at >= TIMING.duration_s
    assert (env.two.is_held, env.one.is_held) == (True, False)
    assert (env.spec["holderIdentity"], env.spec["leaseTransitions"]) == ("two", 1)


async def test_a_lease_that_was_released_is_taken_at_once() -> None:
    env = Environment()
    await env.one.acquire()
    await env.one.release()
    assert not env.one.is_held
    begun_at = env.clock.now()
    await env.two.acquire()
    assert env.clock.now() == begun_at


async def test_it_is_not_taken_while_it_is_renewed() -> None:
    env = Environment()
    await env.one.acquire()
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(env.one.keep())
        taking = tasks.create_task(env.two.acquire())
        while env.clock.now() < 300:
            await asyncio.sleep(0)
        assert not taking.done()
        assert env.one.is_held
        keeping.cancel()
        await taking
    assert env.two.is_held


async def test_whoever_cannot_renew_loses_it_before_others_may_take_it() -> None:
    env = Environment()
    await env.one.acquire()
    env.api.fail_next("replace", times=100)
    with pytest.raises(LeaseLost):
        await env.one.keep()
    assert env.clock.now() - 100 < TIMING.duration_s
    assert not env.one.is_held


async def test_some_failures_do_no_harm() -> None:
    env = Environment()
    await env.one.acquire()
    env.api.fail_next("replace", times=3)
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(env.one.keep())
        while env.clock.now() < 130:
            await asyncio.sleep(0)
        keeping.cancel()
    assert env.one.is_held


async def test_a_renewal_whose_answer_was_lost_is_found_out() -> None:
    env = Environment()
    await env.one.acquire()
    await env.api.replace(LEASES, "ops", NAME, {**_stored(env), "spec": env.spec | {"x": 1}})
    async with asyncio.TaskGroup() as tasks:
        keeping = tasks.create_task(env.one.keep())
        while env.clock.now() < 130:
            await asyncio.sleep(0)
        keeping.cancel()
    assert env.one.is_held


async def test_a_lease_that_somebody_took_is_lost_at_once() -> None:
    env = Environment()
    await env.one.acquire()
    taken = {**_stored(env), "spec": env.spec | {"holderIdentity": "two"}}
    await env.api.replace(LEASES, "ops", NAME, taken)
    with pytest.raises(LeaseLost):
        await env.one.keep()
    assert env.clock.now() == 100 + TIMING.retry_s


async def test_the_api_server_may_be_away_at_first() -> None:
    env = Environment()
    env.api.fail_next("get", ApiUnavailable("starting"), times=4)
    await env.one.acquire()
    assert env.clock.now() == 100 + 4 * TIMING.retry_s


async def test_what_is_not_held_needs_no_release() -> None:
    env = Environment()
    await env.one.release()
    assert env.api.requests == []


async def test_a_release_may_fail() -> None:
    env = Environment()
    await env.one.acquire()
    env.api.fail_next("replace")
    await env.one.release()
    assert not env.one.is_held


@pytest.mark.parametrize(
    ("duration_s", "renew_deadline_s", "retry_s"), [(10, 10, 2), (15, 2, 2), (15, 10, 0)]
)
def test_times_that_do_not_fit(duration_s: float, renew_deadline_s: float, retry_s: float) -> None:
    with pytest.raises(ValueError, match="must exceed"):
        LeaseTiming(duration_s=duration_s, renew_deadline_s=renew_deadline_s, retry_s=retry_s)


def _stored(env: Environment) -> dict[str, Any]:
    found = env.api.find(LEASES, "ops", NAME)
    assert found is not None
    return found
