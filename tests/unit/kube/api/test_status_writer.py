"""Statuses: transitions at once, the rest every few seconds, nothing twice."""

from typing import Any

import pytest

from ballast.kube.api.errors import ApiUnavailable, NotFound
from ballast.kube.api.resources import BROKER_SETS, ObjectKey
from ballast.kube.api.status_writer import INTERVAL_S, StatusWriter
from tests.fakes.clocks import YieldingClock
from tests.fakes.kubernetes import FakeKubernetes

KEY = ObjectKey("brokersets", "a", "one")


def status(count: int, reason: str = "Running", state: str = "True") -> dict[str, Any]:
    return {"count": count, "conditions": [{"type": "Ready", "status": state, "reason": reason}]}


class Environment:
    def __init__(self, written: dict[str, Any] | None = None) -> None:
        self.api = FakeKubernetes()
        self.api.put(BROKER_SETS, {"metadata": {"namespace": "a", "name": "one"}})
        self.clock = YieldingClock()
        self.writer = StatusWriter(self.api, BROKER_SETS, KEY, self.clock, written=written)

    @property
    def shown(self) -> Any:
        found = self.api.find(BROKER_SETS, "a", "one")
        assert found is not None
        return found.get("status", {}).get("count")

    @property
    def writes(self) -> int:
        return len(self.api.requests)


async def test_the_first_is_written_at_once_and_the_next_later() -> None:
    env = Environment()
    assert await env.writer.write(status(1)) is None
    env.clock.seconds += 1
    assert await env.writer.write(status(2)) == pytest.approx(INTERVAL_S - 1)
    assert env.shown == 1
    env.clock.seconds += INTERVAL_S - 1
    assert await env.writer.write(status(3)) is None
    assert (env.shown, env.writes) == (3, 2)


@pytest.mark.parametrize(
    ("after", "urgent"),
    [
        (status(2, reason="Paused"), False),
        (status(2, state="False"), False),
        ({"count": 2}, False),
        (status(2), True),
    ],
)
async def test_transitions_are_written_at_once(after: dict[str, Any], urgent: bool) -> None:
    env = Environment()
    await env.writer.write(status(1))
    assert await env.writer.write(after, urgent=urgent) is None
    assert env.shown == 2


async def test_what_is_there_is_not_written() -> None:
    env = Environment(written=status(1))
    assert await env.writer.write(status(1), urgent=True) is None
    assert env.writes == 0


async def test_what_failed_is_tried_again() -> None:
    env = Environment()
    env.api.fail_next("apply_status")
    with pytest.raises(ApiUnavailable):
        await env.writer.write(status(1))
    assert await env.writer.write(status(1)) is None
    assert env.shown == 1


async def test_an_object_that_is_gone() -> None:
    env = Environment()
    await env.api.delete(BROKER_SETS, "a", "one")
    with pytest.raises(NotFound):
        await env.writer.write(status(1))
