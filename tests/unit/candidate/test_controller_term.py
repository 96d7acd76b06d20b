"""One leadership: strictly one thing at a time, and a clean end."""

import asyncio

from ballast.controller.state.options import ControllerOptions
from ballast.model.settings.controller_config import ControllerConfig
from ballast.net.client.channel import BrokerChannel
from ballast.protocol.error_codes import ErrorCode
from ballast.protocol.messages.admin.create_topics import CreatableTopic, CreateTopicsRequest
from ballast.protocol.messages.admin.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from ballast.zk.client import Delete
from ballast.znodes import controller
from tests.fakes.candidate_cluster import CandidateCluster, with_candidate


def create(name: str) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=2, replication_factor=2)
    return CreateTopicsRequest(topics=(topic,), timeout_ms=20_000)


def test_requests_of_many_clients_are_handled_one_at_a_time() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        del channel
        await asyncio.sleep(1)
        before = len(cluster.zookeeper.log)
        names = [f"t{number}" for number in range(8)]
        await asyncio.gather(*(cluster.ask(100).request(create(name)) for name in names))
        written = [
            operation.path.split("/")[3]
            for record in cluster.zookeeper.log[before:]
            for operation in record.operations
            if operation.path.startswith("/brokers/topics/")
        ]
        runs = [name for number, name in enumerate(written) if written[number - 1] != name]
        assert sorted(runs) == names, "no topic's writes lie between another's"
        term = cluster.candidates[100].controller_term
        assert term is not None
        assert term.handled["CreateTopicsRequest"] == 8
        assert term.handled["UpdateMetadataAnswered"] > 8

    with_candidate(scenario)


def test_requests_that_wait_are_refused_at_the_end() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await asyncio.sleep(1)
        cluster.open.clear()
        waiting = asyncio.gather(channel.request(create("t")))
        await asyncio.sleep(1)
        assert not waiting.done()
        cluster.zookeeper.write(Delete(controller.PATH))
        response = (await waiting)[0]
        assert response.topics[0].error_code == ErrorCode.NOT_CONTROLLER
        cluster.open.set()

    with_candidate(scenario)


def test_leadership_is_given_back_at_regular_times() -> None:
    """First five seconds after the election, as in Kafka, then at the interval."""

    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        del channel
        candidate = cluster.candidates[100]
        term = candidate.controller_term
        assert term is not None
        due = "AutoPreferredReplicaLeaderElection"
        await asyncio.sleep(4)
        assert term.handled[due] == 0
        await asyncio.sleep(2)
        assert term.handled[due] == 1
        await asyncio.sleep(298)
        assert term.handled[due] == 1
        await asyncio.sleep(2 + 2 * 300)
        assert term.handled[due] == 4

    with_candidate(scenario)


def test_leadership_stays_where_nobody_wants_it_back() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        del channel
        options = ControllerOptions(config=ControllerConfig(auto_leader_rebalance_enable=False))
        other = cluster.start_candidate(101, controller=options)
        cluster.tasks[100].cancel()
        await cluster.until(lambda: other.controller_term is not None)
        await asyncio.sleep(400)
        assert other.controller_term is not None
        assert other.controller_term.handled["AutoPreferredReplicaLeaderElection"] == 0

    with_candidate(scenario)


def test_a_full_queue_refuses_requests_and_ends_the_leadership_for_events() -> None:
    async def scenario(cluster: CandidateCluster, channel: BrokerChannel) -> None:
        await asyncio.sleep(1)
        small = cluster.start_candidate(101, max_queued=0)
        cluster.tasks[100].cancel()
        await cluster.until(lambda: small.elections_won > 0)
        asking = cluster.ask(101)
        await cluster.until(lambda: small.is_active)
        response = await asking.request(ListPartitionReassignmentsRequest())
        assert response.error_code in (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER)
        await cluster.until(lambda: small.elections_won > 2)
        del channel

    with_candidate(scenario)
