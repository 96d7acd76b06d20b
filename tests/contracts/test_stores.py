"""Stores and election, on the fake and on the real server."""

import asyncio

import pytest
from msgspec.structs import replace

from ballast.controller.errors import ControllerMoved, StoreUnavailable
from ballast.controller.state.events import (
    BrokerChange,
    Event,
    IsrChangeNotification,
    PartitionModifications,
    TopicChange,
    TopicDeletion,
    ZkPartitionReassignment,
)
from ballast.model.brokers import Endpoint, RegisteredBroker
from ballast.zk.broker_store.store import BrokerStore, IsrCommitted, IsrConflict
from ballast.zk.client import Create, WatchEvent
from ballast.zk.controller_store.store import ControllerStore
from ballast.zk.election import Election, ElectionLost, ElectionWon
from ballast.zk.errors import AlreadyRegistered, BadVersion, NoNode
from tests.contracts.backends import Backend
from tests.unit.zk.stores import elect, state, topic, tp

pytestmark = pytest.mark.contract

BROKER = RegisteredBroker(broker_id=1, endpoints=(Endpoint(host="broker-1", port=9092),), rack="r1")


async def read_for_ever(store: ControllerStore) -> None:
    while True:
        await store.read_topic_names()


class TestElection:
    async def test_the_first_ever_and_the_next(self, backend: Backend) -> None:
        async with backend.session() as first, backend.session() as second:
            one = Election(first, 100, ("one", 9093), lambda: 5)
            two = Election(second, 101, ("two", 9094), lambda: 6)
            elected = await one.run_for_controller()
            assert elected == ElectionWon(controller_epoch=1, epoch_zk_version=1)
            lost = await two.run_for_controller()
            assert isinstance(lost, ElectionLost)
            assert lost.controller is not None
            assert (lost.controller.host, lost.controller.controller_id) == ("one", 100)

            vacant = asyncio.Event()

            def changed(_: WatchEvent) -> None:
                vacant.set()

            assert await two.watch(changed) == lost.controller
            await one.resign(elected)
            async with asyncio.timeout(5):
                await vacant.wait()
            assert await two.watch(changed) is None
            assert await two.run_for_controller() == ElectionWon(
                controller_epoch=2, epoch_zk_version=2
            )
            await one.resign(elected)
            assert await two.watch(changed) is not None

    async def test_a_race_has_one_winner(self, backend: Backend) -> None:
        async with backend.session() as first, backend.session() as second:
            elections = [Election(c, i, ("h", 1), lambda: 0) for i, c in enumerate((first, second))]
            outcomes = await asyncio.gather(*(e.run_for_controller() for e in elections))
            assert sorted(type(outcome).__name__ for outcome in outcomes) == [
                "ElectionLost",
                "ElectionWon",
            ]


class TestControllerStore:
    async def test_a_topic_from_creation_to_deletion(self, backend: Backend) -> None:
        async with backend.session() as client:
            await BrokerStore(client).ensure_paths()
            store = ControllerStore(client, await elect(client), lambda _: None)
            wide = topic("t", p0=(1, 2), p1=(2, 1))
            assert await store.create_topic(wide, {"retention.ms": "1"})
            assert not await store.create_topic(wide, {"retention.ms": "2"})
            assert await store.read_topic_configs(["t", "u"]) == {"t": {"retention.ms": "1"}}
            created = await store.create_leadership({tp(0): state(), tp(1): state(2)})
            assert created.written == {tp(0): state(), tp(1): state(2)}
            assert (await store.create_leadership({tp(1): state()})).stale == {tp(1)}
            moved = await store.update_leadership(
                {tp(0): state(2, 1), tp(1): replace(state(), zk_version=7)}
            )
            assert moved.written == {tp(0): state(2, 1, zk_version=1)}
            assert moved.stale == {tp(1)}
            assert await store.read_leadership([tp(0), tp(1), tp(2)]) == {
                tp(0): state(2, 1, zk_version=1),
                tp(1): state(2),
            }
            await store.create_topic_deletion("t")
            await store.create_topic_deletion("t")
            assert await store.read_topic_deletions() == {"t"}
            await store.delete_topic("t")
            assert await store.read_topics(["t"]) == {}
            assert await store.read_topic_deletions() == frozenset()
            assert await client.exists("/config/topics/t") is None
            assert await client.children("/brokers/topics") == []

    async def test_more_than_fits_one_multi(self, backend: Backend) -> None:
        async with backend.session() as client:
            await BrokerStore(client).ensure_paths()
            store = ControllerStore(client, await elect(client), lambda _: None)
            partitions = [tp(number) for number in range(1200)]
            await store.create_topic(topic("t", **{f"p{n}": (1, 2) for n in range(1200)}), {})
            created = await store.create_leadership(dict.fromkeys(partitions, state()))
            assert len(created.written) == 1200
            for number in (3, 700, 701):
                path = f"/brokers/topics/t/partitions/{number}/state"
                await client.set(path, (await client.get(path))[0])
            moved = await store.update_leadership(dict.fromkeys(partitions, state(2, 1)))
            assert moved.stale == {tp(3), tp(700), tp(701)}
            assert len(moved.written) == 1197
            await store.delete_topic("t")
            assert await client.children("/brokers/topics") == []

    async def test_watches(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as other:
            await BrokerStore(client).ensure_paths()
            events: list[Event] = []
            store = ControllerStore(client, await elect(client), events.append)

            async def read_all() -> None:
                await store.read_brokers()
                await store.read_topics(await store.read_topic_names())
                await store.read_topic_deletions()
                await store.read_reassignments()
                await store.read_isr_notifications()

            await read_all()
            await read_all()
            for path, event in (
                ("/brokers/topics/t", TopicChange()),
                ("/admin/delete_topics/t", TopicDeletion()),
                ("/admin/reassign_partitions", ZkPartitionReassignment()),
                ("/isr_change_notification/isr_change_1", IsrChangeNotification()),
            ):
                await other.create(path, b'{"version":1,"partitions":{}}')
                await other.sync("/")
                await client.sync("/")
                assert events == [event]
                events.clear()
            await read_all()
            await BrokerStore(other).register(BROKER, 0)
            await other.set("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}')
            await client.sync("/")
            assert events == [BrokerChange(), PartitionModifications("t")]
            assert [b.broker_id for b in await store.read_brokers()] == [1]
            store.close()
            await other.create("/brokers/topics/u")
            await client.sync("/")
            assert len(events) == 2

    async def test_deposed(self, backend: Backend) -> None:
        async with backend.session() as old, backend.session() as new:
            await BrokerStore(old).ensure_paths()
            elected = await elect(old)
            store = ControllerStore(old, elected, lambda _: None)
            await store.create_topic(topic(), {})
            await Election(old, 100, ("h", 1), lambda: 0).resign(elected)
            await elect(new)
            with pytest.raises(ControllerMoved):
                await store.create_leadership({tp(): state()})
            await backend.expire(old)
            with pytest.raises(StoreUnavailable):
                await read_for_ever(store)


class TestBrokerStore:
    async def test_registration(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as other:
            store = BrokerStore(client)
            await store.ensure_paths()
            epoch = await store.register(BROKER, 1_700_000_000_000)
            stat = await client.exists("/brokers/ids/1")
            assert stat is not None
            assert (stat.czxid, stat.version) == (epoch, 1)
            assert await store.register(BROKER, 0) == epoch
            with pytest.raises(AlreadyRegistered):
                await BrokerStore(other).register(BROKER, 0, patience_s=0.05)
            # The successor of an expired session does not wait for the server to notice.
            replaced = await BrokerStore(other).register(
                BROKER, 0, expired_sessions=[client.session_id]
            )
            assert replaced > epoch
            await store.unregister(1)
            assert await store.is_registered(1)
            await BrokerStore(other).unregister(1)
            assert not await store.is_registered(1)

    async def test_a_crashed_predecessor_is_waited_for(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as old:
            await BrokerStore(client).ensure_paths()
            epoch = await BrokerStore(old).register(BROKER, 0)
            async with asyncio.TaskGroup() as tasks:
                again = tasks.create_task(BrokerStore(client).register(BROKER, 0))
                await client.sync("/")
                await backend.expire(old)
            assert again.result() > epoch

    async def test_isr_changes(self, backend: Backend) -> None:
        async with backend.session() as client:
            store = BrokerStore(client)
            await store.ensure_paths()
            controller = ControllerStore(client, await elect(client), lambda _: None)
            await controller.create_topic(topic(), {})
            await controller.create_leadership({tp(): state()})
            shrunk = replace(state(), isr=(1,))
            assert await store.alter_isr(tp(), shrunk) == IsrCommitted(
                leadership=replace(shrunk, zk_version=1)
            )
            # Repeated after a lost reply it is found to be its own.
            assert isinstance(await store.alter_isr(tp(), shrunk), IsrCommitted)
            stale = replace(state(), isr=(2,))
            assert await store.alter_isr(tp(), stale) == IsrConflict(
                leadership=replace(shrunk, zk_version=1)
            )
            assert await store.alter_isr(tp(9), shrunk) == IsrConflict(leadership=None)
            await store.notify_isr_changes([tp()])
            assert await controller.read_isr_notifications() == {
                "isr_change_0000000000": frozenset({tp()})
            }
            await controller.delete_isr_notifications(["isr_change_0000000000", "gone"])
            assert await controller.read_isr_notifications() == {}

    async def test_log_dir_failures(self, backend: Backend) -> None:
        async with backend.session() as client:
            store = BrokerStore(client)
            await store.ensure_paths()
            controller = ControllerStore(client, await elect(client), lambda _: None)
            await store.notify_log_dir_failure(3)
            await store.notify_log_dir_failure(3)
            events = await controller.read_log_dir_events()
            assert events == {
                "log_dir_event_0000000000": frozenset({3}),
                "log_dir_event_0000000001": frozenset({3}),
            }
            await controller.delete_log_dir_events(sorted(events))
            assert await controller.read_log_dir_events() == {}

    async def test_configs(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as other:
            writer, reader = BrokerStore(client), BrokerStore(other)
            await writer.ensure_paths()
            await client.create("/brokers/topics/t")
            await writer.write_topic_config("t", {"a": "0"}, -1)
            news = asyncio.Event()
            await reader.watch_config_changes(news.set)
            written = await writer.write_topic_config("t", {"a": "1"}, 0)
            assert written == await reader.topic_config("t")
            await writer.write_broker_config(None, {"b": "2"}, -1)
            with pytest.raises(BadVersion):
                await writer.write_topic_config("t", {"a": "2"}, 0)
            with pytest.raises(BadVersion):
                await writer.write_broker_config(None, {}, -1)
            with pytest.raises(NoNode):
                await writer.write_topic_config("gone", {}, -1)
            async with asyncio.timeout(5):
                await news.wait()
            assert await reader.read_config_changes(0) == ["topics/t", "brokers/<default>"]
            assert await reader.read_config_changes(0) == []
            found = await reader.topic_configs(["t", "u"])
            assert {name: config.version for name, config in found.items()} == {"t": 1, "u": -1}
            assert (await reader.broker_config(None)).values == {"b": "2"}

    async def test_ids(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as other:
            stores = [BrokerStore(client), BrokerStore(other)]
            await stores[0].ensure_paths()
            await stores[1].ensure_paths()
            ranges = await asyncio.gather(
                *(stores[i % 2].allocate_producer_ids(i) for i in range(6))
            )
            assert sorted(r.start for r in ranges) == [0, 1000, 2000, 3000, 4000, 5000]
            assert {len(r) for r in ranges} == {1000}
            ids = await asyncio.gather(*(s.cluster_id(f"id-{i}") for i, s in enumerate(stores)))
            assert len(set(ids)) == 1
            assert await client.multi_read(["/cluster/id"]) == await other.multi_read(
                ["/cluster/id"]
            )

    async def test_the_controller_is_watched(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as candidate:
            await candidate.multi([Create("/x")])
            news = asyncio.Event()
            store = BrokerStore(client)
            assert await store.read_controller(lambda _: news.set()) is None
            await elect(candidate)
            async with asyncio.timeout(5):
                await news.wait()
            found = await store.read_controller(lambda _: None)
            assert found is not None
            assert (found.host, found.port) == ("controller.example", 9093)
