"""Which refusals are tried again, and for how long."""

from collections.abc import Mapping

import pytest

from ballast.cli.reassign.config_writes import RETRY_FOR_S, ConfigWrites
from ballast.cli.reassign.failures import CommandFailed
from ballast.reassign.ports import RequestError
from tests.fakes.cluster_admin import FakeAdmin, FakeClock, FakeCluster

RATE = {"leader.replication.throttled.rate": "1"}
LISTS = {"t": {"leader.replication.throttled.replicas": "0:1"}}
TIMED_OUT = RequestError(error="REQUEST_TIMED_OUT", message="The request timed out.")
REFUSED = RequestError(error="INVALID_REQUEST", message="No.")


class Answers(FakeAdmin):
    """Refuses with what it is given, then does as it is asked."""

    def __init__(self, *refusals: RequestError) -> None:
        cluster = FakeCluster(1, 2, copy_rate=1.0)
        cluster.add("t", 0, 1, 2)
        super().__init__(cluster)
        self.first_refusals = list(refusals)

    async def alter_topic_configs(
        self, changes: Mapping[str, Mapping[str, str | None]]
    ) -> Mapping[str, RequestError]:
        if self.first_refusals:
            return dict.fromkeys(changes, self.first_refusals.pop(0))
        return await super().alter_topic_configs(changes)

    async def alter_broker_configs(
        self, broker_id: int, changes: Mapping[str, str | None]
    ) -> RequestError | None:
        if self.first_refusals:
            return self.first_refusals.pop(0)
        return await super().alter_broker_configs(broker_id, changes)


async def test_what_passes_by_itself_is_tried_again() -> None:
    admin, clock = Answers(TIMED_OUT, TIMED_OUT), FakeClock()
    await ConfigWrites(admin, clock).broker(1, RATE)
    assert admin.cluster.broker_configs[1] == RATE
    admin.first_refusals.append(TIMED_OUT)
    await ConfigWrites(admin, clock).topics(LISTS)
    assert admin.cluster.topic_configs["t"] == LISTS["t"]


async def test_what_is_refused_fails_at_once() -> None:
    admin, clock = Answers(REFUSED, REFUSED), FakeClock()
    with pytest.raises(CommandFailed, match=r"broker 1: No\."):
        await ConfigWrites(admin, clock).broker(1, RATE)
    with pytest.raises(CommandFailed, match=r"^No\.$"):
        await ConfigWrites(admin, clock).topics(LISTS)
    assert clock.now() == FakeClock().now()


async def test_what_does_not_pass_fails_in_the_end() -> None:
    admin, clock = Answers(*[TIMED_OUT] * 1000), FakeClock()
    before = clock.now()
    with pytest.raises(CommandFailed, match="timed out"):
        await ConfigWrites(admin, clock).broker(1, RATE)
    assert RETRY_FOR_S <= clock.now() - before < RETRY_FOR_S + 1
