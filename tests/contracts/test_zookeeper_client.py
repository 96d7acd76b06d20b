"""What a ZooKeeper client promises, on the fake and on the real server."""

import asyncio

import pytest

from ballast.zk.client import (
    Check,
    Create,
    Delete,
    SessionEvent,
    SetData,
    Stat,
    WatchKind,
    ZooKeeperClient,
)
from ballast.zk.errors import (
    BadVersion,
    MultiFailed,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    RequestTooLarge,
    SessionExpired,
    ZooKeeperError,
)
from tests.contracts.backends import Backend
from tests.contracts.watching import Seen

pytestmark = pytest.mark.contract


async def alone(client: ZooKeeperClient, operation: Create | SetData | Delete) -> None:
    match operation:
        case Create():
            await client.create(operation.path)
        case SetData():
            await client.set(*operation)
        case Delete():
            await client.delete(*operation)


class TestData:
    async def test_create_get_set_delete(self, backend: Backend) -> None:
        async with backend.session() as client:
            assert await client.create("/a", b"one") == "/a"
            data, stat = await client.get("/a")
            assert (data, stat.version, stat.ephemeral_owner) == (b"one", 0, 0)
            assert stat.cversion == 0
            assert stat.czxid == stat.mzxid > 0
            after = await client.set("/a", b"two")
            assert (after.version, after.czxid) == (1, stat.czxid)
            assert after.mzxid > stat.mzxid
            assert await client.get("/a") == (b"two", after)
            assert await client.exists("/a") == after
            await client.delete("/a")
            assert await client.exists("/a") is None
            with pytest.raises(NoNode):
                await client.get("/a")

    async def test_versions_are_conditions(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a")
            await client.set("/a", b"1", 0)
            with pytest.raises(BadVersion):
                await client.set("/a", b"2", 0)
            with pytest.raises(BadVersion):
                await client.delete("/a", 0)
            await client.delete("/a", 1)

    @pytest.mark.parametrize(
        ("operation", "error"),
        [
            pytest.param(Create("/a"), NodeExists, id="create what exists"),
            pytest.param(Create("/no/child"), NoNode, id="create without parent"),
            pytest.param(Create("/a/e/child"), NoChildrenForEphemerals, id="below an ephemeral"),
            pytest.param(SetData("/no", b""), NoNode, id="set what is missing"),
            pytest.param(SetData("/a", b"", 7), BadVersion, id="set another version"),
            pytest.param(Delete("/no"), NoNode, id="delete what is missing"),
            pytest.param(Delete("/a", 7), BadVersion, id="delete another version"),
            pytest.param(Delete("/a"), NotEmpty, id="delete a parent"),
        ],
    )
    async def test_errors_are_the_same_alone_and_in_a_multi(
        self,
        backend: Backend,
        operation: Create | SetData | Delete,
        error: type[ZooKeeperError],
    ) -> None:
        async with backend.session() as client:
            await client.create("/a", b"kept")
            await client.create("/a/e", ephemeral=True)
            with pytest.raises(error):
                await alone(client, operation)
            with pytest.raises(MultiFailed) as failure:
                await client.multi([Check("/a"), SetData("/a", b"lost"), operation])
            assert (failure.value.index, type(failure.value.error)) == (2, error)
            assert (await client.get("/a"))[0] == b"kept"

    async def test_empty_data_stays_empty(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a")
            assert (await client.get("/a"))[0] == b""
            await client.set("/a", b"x")
            await client.set("/a", b"")
            assert (await client.multi_read(["/a"]))[0] == await client.get("/a")

    async def test_children_are_sorted(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a")
            for name in ("c", "a", "b"):
                await client.create(f"/a/{name}")
            await client.delete("/a/b")
            assert await client.children("/a") == ["a", "c"]
            stat = await client.exists("/a")
            assert stat is not None
            # Three creations and one deletion.
            assert stat.cversion == 4
            with pytest.raises(NoNode):
                await client.children("/no")

    async def test_sequence_numbers_are_never_used_again(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/q")
            first = await client.create("/q/n_", sequential=True)
            await client.delete(first)
            await client.create("/q/other")
            results = await client.multi([Create("/q/n_", sequential=True), SetData("/q", b"x")])
            assert first == "/q/n_0000000000"
            assert results[0] == "/q/n_0000000002"

    async def test_too_large_is_refused_before_it_is_sent(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a", bytes(1000_000))
            with pytest.raises(RequestTooLarge):
                await client.set("/a", bytes(1024 * 1024))
            with pytest.raises(RequestTooLarge):
                await client.multi([SetData("/a", bytes(600_000)), SetData("/a", bytes(600_000))])
            assert len((await client.get("/a"))[0]) == 1000_000


class TestMulti:
    async def test_results_stand_in_the_places_of_their_operations(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a")
            await client.create("/old")
            results = await client.multi(
                [Check("/a", 0), Create("/a/b", b"1"), SetData("/a/b", b"2"), Delete("/old")]
            )
            stat = results[2]
            assert isinstance(stat, Stat)
            assert results == [None, "/a/b", stat, None]
            assert await client.get("/a/b") == (b"2", stat)
            assert (stat.version, stat.czxid) == (1, stat.mzxid)

    async def test_all_or_nothing(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.create("/a", b"kept")
            before = await client.get("/a")
            with pytest.raises(MultiFailed) as failure:
                await client.multi(
                    [
                        SetData("/a", b"lost"),
                        Create("/b"),
                        Delete("/a"),
                        Check("/b", 1),
                        Create("/c"),
                    ]
                )
            assert failure.value.index == 3
            assert await client.get("/a") == before
            assert await client.exists("/b") is None

    async def test_check_needs_the_znode_whatever_the_version(self, backend: Backend) -> None:
        async with backend.session() as client:
            with pytest.raises(MultiFailed) as failure:
                await client.multi([Check("/no"), Create("/a")])
            assert (failure.value.index, type(failure.value.error)) == (0, NoNode)

    async def test_multi_read_keeps_the_order_and_the_gaps(self, backend: Backend) -> None:
        async with backend.session() as client:
            await client.multi([Create(f"/n{i}", b"%d" % i) for i in range(0, 400, 2)])
            found = await client.multi_read([f"/n{i % 400}" for i in range(2500)])
            assert [node and node[0] for node in found] == [
                None if i % 2 else b"%d" % (i % 400) for i in range(2500)
            ]
            assert found[0] == await client.get("/n0")
            assert await client.multi_read([]) == []


class TestWatches:
    async def test_one_shot(self, backend: Backend) -> None:
        async with backend.session() as client:
            seen = Seen()
            await client.create("/a")
            await client.get("/a", seen)
            await client.set("/a", b"1")
            await client.set("/a", b"2")
            await client.sync("/")
            assert seen.events == [(WatchKind.CHANGED, "/a")]

    async def test_the_event_comes_before_the_newer_data(self, backend: Backend) -> None:
        async with backend.session() as watcher, backend.session() as writer:
            seen = Seen()
            await watcher.create("/a", b"0")
            for number in range(20):
                await watcher.get("/a", seen)
                await writer.set("/a", b"%d" % number)
                while (await watcher.get("/a"))[0] != b"%d" % number:
                    assert len(seen.events) == number
                assert len(seen.events) == number + 1

    async def test_each_kind(self, backend: Backend) -> None:
        async with backend.session() as client:
            data, absent, children = Seen(), Seen(), Seen()
            assert await client.exists("/a", absent) is None
            await client.create("/a")
            await client.children("/a", children)
            await client.create("/a/b")
            await client.children("/a", children)
            await client.delete("/a/b")
            await client.children("/a", children)
            await client.get("/a", data)
            await client.delete("/a")
            await client.sync("/")
            assert absent.events == [(WatchKind.CREATED, "/a")]
            assert data.events == [(WatchKind.DELETED, "/a")]
            assert children.events == [
                (WatchKind.CHILD, "/a"),
                (WatchKind.CHILD, "/a"),
                (WatchKind.DELETED, "/a"),
            ]

    async def test_the_same_callable_is_called_once(self, backend: Backend) -> None:
        async with backend.session() as client:
            seen, other = Seen(), Seen()
            await client.create("/a")
            for watch in (seen, seen, other):
                await client.get("/a", watch)
            await client.exists("/a", seen)
            await client.set("/a", b"1")
            await client.sync("/")
            assert (len(seen.events), len(other.events)) == (1, 1)

    async def test_a_get_that_fails_arms_nothing(self, backend: Backend) -> None:
        async with backend.session() as client:
            seen = Seen()
            with pytest.raises(NoNode):
                await client.get("/a", seen)
            with pytest.raises(NoNode):
                await client.children("/a", seen)
            await client.create("/a")
            await client.sync("/")
            assert seen.events == []

    async def test_many_are_read_with_one_watch(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as writer:
            seen = Seen()
            await client.multi([Create(f"/n{i}") for i in range(30)])
            found = await client.multi_read([f"/n{i}" for i in range(31)], seen)
            assert [node is None for node in found] == [False] * 30 + [True]
            await writer.multi([SetData("/n3", b"1"), Delete("/n5"), Create("/n30")])
            assert await seen.wait(2) == [(WatchKind.CHANGED, "/n3"), (WatchKind.DELETED, "/n5")]

    async def test_many_at_once_miss_nothing_that_changes_meanwhile(self, backend: Backend) -> None:
        async with backend.session() as client, backend.session() as writer:
            paths = [f"/n{i}" for i in range(1500)]
            await writer.multi([Create(path) for path in paths])
            for path in ("/n0", "/n700", "/n1499"):
                seen = Seen()
                async with asyncio.TaskGroup() as tasks:
                    read = tasks.create_task(client.multi_read(paths, seen))
                    for number in range(200):
                        tasks.create_task(writer.set(path, b"%d" % number))
                node = read.result()[paths.index(path)]
                assert node is not None
                await client.sync("/")
                # What was written after the reading is told, once.
                is_last = node[0] == (await client.get(path))[0]
                assert seen.events == ([] if is_last else [(WatchKind.CHANGED, path)])


class TestSessions:
    async def test_ephemerals_belong_to_their_session(self, backend: Backend) -> None:
        async with backend.session() as watcher:
            seen = Seen()
            async with backend.session() as owner:
                await owner.create("/e", ephemeral=True)
                stat = await watcher.exists("/e", seen)
                assert stat is not None
                assert stat.ephemeral_owner == owner.session_id != 0
            assert await seen.wait(1) == [(WatchKind.DELETED, "/e")]

    async def test_closed_clients_refuse(self, backend: Backend) -> None:
        async with backend.session() as client:
            events: list[SessionEvent] = []
            client.on_session_event(events.append)
            await client.close()
            await client.close()
            with pytest.raises(SessionExpired):
                await client.get("/")
            with pytest.raises(SessionExpired):
                await client.start()
            with pytest.raises(SessionExpired):
                await client.wait_connected()
            assert events == []

    async def test_expiry(self, backend: Backend) -> None:
        """Others see the ephemeral znode go; the owner is told, and can do nothing any more."""
        async with backend.session() as watcher, backend.session() as owner:
            gone, over = Seen(), asyncio.Event()
            events: list[SessionEvent] = []

            def on_event(event: SessionEvent) -> None:
                events.append(event)
                if event is SessionEvent.EXPIRED:
                    over.set()

            owner.on_session_event(on_event)
            await owner.create("/e", ephemeral=True)
            await watcher.exists("/e", gone)
            await backend.expire(owner)
            assert await gone.wait(1) == [(WatchKind.DELETED, "/e")]
            async with asyncio.timeout(5):
                await over.wait()
            assert events[-1] is SessionEvent.EXPIRED
            with pytest.raises(SessionExpired):
                await owner.get("/")
            with pytest.raises(SessionExpired):
                await owner.wait_connected()
            # A new object goes on with a new session.
            async with backend.session() as successor:
                assert successor.session_id != owner.session_id
                await successor.create("/e", ephemeral=True)

    async def test_the_granted_timeout_is_known(self, backend: Backend) -> None:
        async with backend.session() as client:
            assert client.session_timeout_s == 2.0
