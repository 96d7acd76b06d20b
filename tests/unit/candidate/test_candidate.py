"""Candidates: election, failover, fencing, resignation."""

import asyncio
import errno
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ballast.candidate.candidate import start_at_first_free
from ballast.net.errors import Disconnected
from ballast.protocol.api_keys import ApiKey
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from ballast.protocol.messages.cluster.metadata import MetadataRequest
from ballast.protocol.messages.control.update_metadata import UpdateMetadataRequest
from ballast.zk.client import Delete, SessionEvent, SetData
from ballast.znodes import controller, controller_epoch
from tests.fakes.candidate_cluster import CandidateCluster
from tests.simulation.loop import SimulatedLoop, run

LIST = ListPartitionReassignmentsRequest()


def create(name: str, timeout_ms: int = 10_000) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=3)
    return CreateTopicsRequest(topics=(topic,), timeout_ms=timeout_ms)


def with_cluster(
    scenario: Callable[[CandidateCluster], Coroutine[Any, Any, None]], seed: int = 1
) -> None:
    async def main(loop: SimulatedLoop) -> None:
        cluster = CandidateCluster(loop)
        for broker_id in (1, 2, 3):
            cluster.start_broker(broker_id)
        await scenario(cluster)

    _, loop = run(seed, main)
    assert loop.unhandled == []


def epoch(cluster: CandidateCluster) -> int:
    data = cluster.zookeeper.data(controller_epoch.PATH)
    assert data is not None
    return controller_epoch.decode(data)


@pytest.mark.parametrize("seed", range(5))
def test_one_of_two_is_elected_and_says_where_it_is(seed: int) -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        both = [cluster.start_candidate(number) for number in (100, 101)]
        await cluster.until(lambda: any(candidate.is_active for candidate in both))
        await asyncio.sleep(5)
        active = [candidate for candidate in both if candidate.is_active]
        assert [candidate.candidate_id for candidate in active] == [cluster.elected()]
        (other,) = [candidate for candidate in both if not candidate.is_active]
        assert other.lost_to is not None
        assert other.lost_to.controller_epoch == epoch(cluster)
        assert other.lost_to.controller is not None
        assert other.lost_to.controller.controller_id == cluster.elected()
        assert active[0].lost_to is None
        assert active[0].elected_ms is not None
        assert {candidate.session_event for candidate in both} == {SessionEvent.CONNECTED}
        data = cluster.zookeeper.data(controller.PATH)
        assert data is not None
        info = controller.decode(data)
        assert (info.host, info.port) == (f"c{cluster.elected()}", 9093)
        for broker in cluster.brokers.values():
            first = broker.messages(UpdateMetadataRequest)[0]
            assert first.controller_epoch == epoch(cluster)
            assert {live.id for live in first.live_brokers} == {1, 2, 3}
            assert set(broker.client_ids) == {f"controller-{cluster.elected()}"}
        responses = [await cluster.ask(number).request(LIST) for number in (100, 101)]
        errors = {response.error_code for response in responses}
        assert errors == {ErrorCode.NONE, ErrorCode.NOT_CONTROLLER}

    with_cluster(scenario, seed)


def test_the_port_that_is_told_may_be_the_one_listened_on() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        cluster.start_candidate(100, advertised=("10.0.0.7", 0))
        await cluster.until(lambda: cluster.elected() == 100)
        data = cluster.zookeeper.data(controller.PATH)
        assert data is not None
        info = controller.decode(data)
        assert (info.host, info.port) == ("10.0.0.7", 9093)

    with_cluster(scenario)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_controller_is_replaced(seed: int) -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        cluster.start_candidate(100)
        await cluster.until(lambda: cluster.elected() == 100)
        cluster.start_candidate(101)
        await cluster.ask(100).request(create("t"))
        before = epoch(cluster)
        cluster.loop.kill(cluster.hosts["c100"])
        cluster.zookeeper.kill("c100")
        await cluster.until(lambda: cluster.candidates[101].is_active)
        assert cluster.elected() == 101
        assert epoch(cluster) == before + 1
        again = await cluster.ask(101).request(create("t"))
        assert again.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
        other = await cluster.ask(101).request(create("other"))
        assert other.topics[0].error_code == ErrorCode.NONE

    with_cluster(scenario, seed)


@pytest.mark.parametrize("seed", range(3))
def test_an_expired_controller_refuses_and_runs_again(seed: int) -> None:
    """N4: cut off from ZooKeeper, it is deposed before it knows, and changes nothing."""

    async def scenario(cluster: CandidateCluster) -> None:
        first = cluster.start_candidate(100)
        await cluster.until(lambda: cluster.elected() == 100)
        cluster.start_candidate(101)
        await asyncio.sleep(1)
        cluster.zookeeper.cut("c100")
        asking = asyncio.gather(
            cluster.ask(100).request(create("lost")),
            cluster.ask(100).request(LIST),
        )
        await cluster.until(lambda: cluster.elected() == 101)
        assert not first.is_active
        # What its memory says may be old, so it is not asked.
        assert (await cluster.ask(100).request(LIST)).error_code == ErrorCode.NOT_CONTROLLER
        cluster.zookeeper.heal("c100")
        creation, listing = await asking
        assert creation.topics[0].error_code == ErrorCode.NOT_CONTROLLER
        assert listing.error_code in (ErrorCode.NONE, ErrorCode.NOT_CONTROLLER)
        assert cluster.zookeeper.data("/brokers/topics/lost") is None
        await asyncio.sleep(10)
        cluster.zookeeper.kill_session("c101")
        await cluster.until(lambda: first.is_active)
        assert first.elections_won == 2

    with_cluster(scenario, seed)


def test_a_controller_whose_session_zookeeper_kept_leads_on() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        cluster.start_candidate(101)
        await asyncio.sleep(1)
        before = epoch(cluster)
        cluster.zookeeper.stop()
        await asyncio.sleep(600)
        assert not candidate.is_active, "nobody knows whether it is"
        cluster.zookeeper.start()
        await cluster.until(lambda: candidate.is_active)
        assert (await cluster.ask(100).request(create("t"))).topics[0].error_code == ErrorCode.NONE
        assert (candidate.elections_won, epoch(cluster)) == (1, before)

    with_cluster(scenario)


@pytest.mark.parametrize(("away_s", "isr"), [(2, [1, 2, 3]), (60, [1, 3])])
def test_brokers_whose_sessions_ended_with_the_controllers_are_waited_for(
    away_s: float, isr: list[int]
) -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await cluster.ask(100).request(create("t"))
        cluster.stop_broker(2)
        cluster.zookeeper.kill_session("c100")
        cluster.loop.call_later(away_s, cluster.start_broker, 2)
        await asyncio.sleep(20)
        assert candidate.is_active
        for partition in (0, 1):
            data = cluster.zookeeper.data(f"/brokers/topics/t/partitions/{partition}/state")
            assert sorted(json.loads(data or b"{}")["isr"]) == isr

    with_cluster(scenario)


def test_a_controller_whose_znode_is_deleted_steps_down() -> None:
    """What operators do to force an election: everything is read anew, under the next epoch."""

    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await asyncio.sleep(1)
        before = epoch(cluster)
        cluster.zookeeper.write(Delete(controller.PATH))
        await cluster.until(lambda: candidate.elections_won == 2 and candidate.is_active)
        assert epoch(cluster) == before + 1
        response = await cluster.ask(100).request(create("t"))
        assert response.topics[0].error_code == ErrorCode.NONE

    with_cluster(scenario)


def test_a_fenced_controller_steps_down() -> None:
    """A write that finds another epoch is the end of the leadership, and changes nothing."""

    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await asyncio.sleep(1)
        cluster.zookeeper.write(SetData(controller_epoch.PATH, controller_epoch.encode(50)))
        response = await cluster.ask(100).request(create("t"))
        assert response.topics[0].error_code == ErrorCode.NOT_CONTROLLER
        assert cluster.zookeeper.data("/brokers/topics/t") is None
        await asyncio.sleep(5)
        assert cluster.elected() == 100, "the fenced one did not delete /controller"

    with_cluster(scenario)


def test_a_bug_ends_the_leadership_not_the_candidate(caplog: pytest.LogCaptureFixture) -> None:
    """An unexpected error: resign with a line in the log, then run again."""

    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await asyncio.sleep(1)
        other = cluster.start_candidate(101)
        await asyncio.sleep(1)
        assert candidate.controller_term is not None
        candidate.controller_term._on_event(object())  # type: ignore[arg-type]
        await cluster.until(lambda: other.is_active)
        assert not candidate.is_active
        assert cluster.elected() == 101

    with_cluster(scenario)
    lines = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert lines == ["resigning, because something unexpected failed"]


def test_a_bug_that_repeats_itself_is_tried_again_later_and_later() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100, max_retry_s=8.0, stable_s=5.0)
        pauses = []
        for _ in range(6):
            await cluster.until(lambda: candidate.is_active)
            assert candidate.controller_term is not None
            candidate.controller_term._on_event(object())  # type: ignore[arg-type]
            await cluster.until(lambda: not candidate.is_active)
            ended_at = cluster.loop.time()
            await cluster.until(lambda: candidate.is_active)
            pauses.append(round(cluster.loop.time() - ended_at))
        assert pauses == [1, 2, 4, 8, 8, 8]
        assert candidate.failures == 6
        await asyncio.sleep(5)
        assert candidate.controller_term is not None
        candidate.controller_term._on_event(object())  # type: ignore[arg-type]
        await cluster.until(lambda: not candidate.is_active)
        await cluster.until(lambda: candidate.is_active, within_s=1.5)

    with_cluster(scenario)


def test_a_candidate_that_is_stopped_leaves_at_once() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        first = cluster.start_candidate(100)
        await cluster.until(lambda: first.is_active)
        second = cluster.start_candidate(101)
        await asyncio.sleep(1)
        cluster.tasks[100].cancel()
        began = cluster.loop.time()
        await cluster.until(lambda: second.is_active)
        assert cluster.loop.time() - began < 1
        with pytest.raises(asyncio.CancelledError):
            await cluster.tasks[100]

    with_cluster(scenario)


@pytest.mark.parametrize("turns", range(12))
def test_a_candidate_that_is_stopped_while_it_fails_leaves_too(turns: int) -> None:
    """At whichever turn of the loop, while its leadership is coming to an end."""

    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await asyncio.sleep(1)
        assert candidate.controller_term is not None
        candidate.controller_term._on_event(object())  # type: ignore[arg-type]
        for _ in range(turns):
            await asyncio.sleep(0)
        cluster.tasks[100].cancel()
        await cluster.until(cluster.tasks[100].done)
        assert cluster.tasks[100].cancelled()

    with_cluster(scenario)


def test_a_candidate_without_zookeeper_waits_for_it() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        cluster.zookeeper.stop()
        candidate = cluster.start_candidate(100)
        await asyncio.sleep(60)
        assert not candidate.is_active
        cluster.zookeeper.start()
        await cluster.until(lambda: candidate.is_active)

    with_cluster(scenario)


def test_the_endpoint_serves_controller_bound_requests_only() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.port > 0)
        with pytest.raises(Disconnected):
            await cluster.ask(100).request(MetadataRequest(), 9)

    with_cluster(scenario)


def test_brokers_are_told_of_brokers() -> None:
    async def scenario(cluster: CandidateCluster) -> None:
        candidate = cluster.start_candidate(100)
        await cluster.until(lambda: candidate.is_active)
        await cluster.ask(100).request(create("t"))
        cluster.stop_broker(2)

        def last(broker_id: int) -> Any:
            return cluster.brokers[broker_id].messages(UpdateMetadataRequest)[-1]

        await cluster.until(lambda: {live.id for live in last(1).live_brokers} == {1, 3})
        leaders = {
            partition.partition_index: partition.leader
            for message in cluster.brokers[1].messages(UpdateMetadataRequest)
            for topic in message.topic_states
            for partition in topic.partition_states
        }
        assert leaders.keys() == {0, 1}
        assert 2 not in leaders.values()
        cluster.start_broker(2)
        await cluster.until(lambda: bool(cluster.brokers[2].requests))
        first = cluster.brokers[2].requests[0][1]
        assert first.API_KEY == ApiKey.UPDATE_METADATA, "C11: metadata before leadership"
        assert candidate.controller_term is not None
        assert candidate.controller_term.offline_partitions == 0

    with_cluster(scenario)


class Ports:
    """A server that finds some ports taken."""

    def __init__(self, taken: set[int], error: int = errno.EADDRINUSE) -> None:
        self.taken, self.error, self.started = taken, error, list[int]()

    async def start(self, host: str, port: int) -> None:
        assert host == "::"
        if port in self.taken:
            raise OSError(self.error, "taken")
        self.started.append(port)


async def test_the_endpoint_listens_on_the_first_port_that_is_free() -> None:
    server = Ports({9500, 9501})
    await start_at_first_free(server.start, "::", (9500, 9501, 9502, 9503))
    assert server.started == [9502]
    with pytest.raises(OSError, match="taken"):
        await start_at_first_free(Ports({9500}).start, "::", (9500,))
    with pytest.raises(PermissionError):
        await start_at_first_free(Ports({80}, errno.EACCES).start, "::", (80, 9500))
