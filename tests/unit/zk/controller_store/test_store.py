"""The controller's store on a fake ZooKeeper: fencing, lost replies, hostile content, order."""

import random
from collections.abc import Awaitable, Callable

import pytest

from ballast.controller.errors import ControllerMoved, RequestRefused, StoreUnavailable
from ballast.controller.state.events import ConfigChange, LogDirEventNotification
from ballast.controller.state.ports import ConfigChanges, MetadataStore
from ballast.model.ids import TopicPartition
from ballast.zk.client import Delete
from ballast.zk.controller_store.store import ControllerStore
from ballast.zk.election import Election
from tests.fakes.zookeeper import FakeZooKeeper
from tests.unit.zk.stores import controller, elect, server, session, state, topic, tp

Write = Callable[[ControllerStore], Awaitable[object]]

WRITES: dict[str, Write] = {
    "create_leadership": lambda s: s.create_leadership({tp(1): state()}),
    "update_leadership": lambda s: s.update_leadership({tp(): state(2, 1)}),
    "write_topics": lambda s: s.write_topics([topic(p0=(2, 1))]),
    "create_topic": lambda s: s.create_topic(topic("new"), {}),
    "delete_topic": lambda s: s.delete_topic("t"),
    "create_topic_deletion": lambda s: s.create_topic_deletion("u"),
    "remove_topic_deletions": lambda s: s.remove_topic_deletions(["t"]),
    "write_reassignments": lambda s: s.write_reassignments({tp(): (2, 3)}),
    "write_reassignments of none": lambda s: s.write_reassignments({}),
    "delete_preferred_elections": lambda s: s.delete_preferred_elections(),
    "delete_log_dir_events": lambda s: s.delete_log_dir_events(["log_dir_event_0000000000"]),
    "delete_isr_notifications": lambda s: s.delete_isr_notifications(["isr_change_0000000000"]),
}

each_write = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


def populate(zookeeper: FakeZooKeeper) -> None:
    """Give every write something to write on."""
    zookeeper.put("/brokers/topics/t", b'{"version":2,"partitions":{"0":[1,2],"1":[1,2]}}')
    zookeeper.put(
        "/brokers/topics/t/partitions/0/state",
        b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2]}',
    )
    zookeeper.put("/config/topics/t", b'{"version":1,"config":{"a":"b"}}')
    zookeeper.put("/admin/delete_topics/t")
    zookeeper.put("/admin/reassign_partitions", b'{"version":1,"partitions":[]}')
    zookeeper.put("/admin/preferred_replica_election", b'{"version":1,"partitions":[]}')
    zookeeper.put(
        "/log_dir_event_notification/log_dir_event_0000000000",
        b'{"version":1,"broker":2,"event":1}',
    )
    zookeeper.put(
        "/isr_change_notification/isr_change_0000000000",
        b'{"version":1,"partitions":[{"topic":"t","partition":0}]}',
    )


def test_every_write_of_the_port_is_covered() -> None:
    reads = {name for name in dir(MetadataStore) if name.startswith("read_")}
    methods = {name for name in dir(MetadataStore) if not name.startswith("_")}
    assert {name.split()[0] for name in WRITES} == methods - reads


@each_write
async def test_a_deposed_controller_writes_nothing(write: Write) -> None:
    zookeeper = server()
    async with controller(zookeeper) as old, session(zookeeper, "next") as client:
        populate(zookeeper)
        await Election(old.client, 100, ("h", 1), lambda: 0).resign(old.elected)
        await elect(client, 101)
        before, writes = zookeeper.tree.zxid, len(zookeeper.log)
        with pytest.raises(ControllerMoved):
            await write(old.store)
        assert (zookeeper.tree.zxid, len(zookeeper.log)) == (before, writes)


@each_write
async def test_every_write_checks_the_epoch(write: Write) -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        populate(zookeeper)
        before = len(zookeeper.log)
        await write(elected.store)
        records = zookeeper.log[before:]
        assert records
        for record in records:
            check = record.operations[0]
            assert (check.name, check.path) == ("check", "/controller_epoch")
            assert check.version == elected.elected.epoch_zk_version


async def test_states_that_cannot_be_read_are_not_taken_for_none() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        populate(zookeeper)
        zookeeper.kill_session("controller")
        with pytest.raises(StoreUnavailable):
            await elected.store.read_leadership([TopicPartition("t", 0)])


@each_write
async def test_a_lost_session_is_told(write: Write) -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        populate(zookeeper)
        zookeeper.kill_session("controller")
        with pytest.raises(StoreUnavailable):
            await write(elected.store)


@pytest.mark.parametrize("seed", range(6))
@each_write
async def test_lost_replies_leave_the_same_znodes(write: Write, seed: int) -> None:
    """C13: whether or not the lost write was applied, the outcome is that of one write."""
    quiet = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    async with controller(quiet) as elected:
        populate(quiet)
        expected = await write(elected.store)
    noisy = FakeZooKeeper(random.Random(seed), session_timeout_s=2.0)
    async with controller(noisy) as elected:
        populate(noisy)
        cuts = 0

        def cut(_: object) -> None:
            # Each write applied breaks the connection under its reply, three times.
            nonlocal cuts
            cuts += 1
            if cuts <= 3:
                noisy.disconnect("controller")

        noisy.after_write.append(cut)
        noisy.disconnect("controller")
        outcome = await write(elected.store)
        noisy.after_write.clear()
        assert outcome == expected
        assert contents(noisy) == contents(quiet)


def contents(zookeeper: FakeZooKeeper) -> dict[str, bytes]:
    return {path: node.data for path, node in zookeeper.tree.nodes.items() if path != "/controller"}


async def test_golden_order_of_a_deletion() -> None:
    # Fact 12 of the goldens.
    zookeeper = server()
    async with controller(zookeeper) as elected:
        await elected.store.create_topic(topic(p0=(1,), p1=(1,), p10=(1,), p2=(1,)), {})
        await elected.store.create_leadership({tp(n): state() for n in (0, 1, 10, 2)})
        await elected.store.create_topic_deletion("t")
        await elected.store.delete_topic("t")
        parts = "/brokers/topics/t/partitions"
        deleted = [o.path for o in zookeeper.log[-1].operations if o.name == "delete"]
        assert deleted == [
            *(path for n in (0, 1, 2, 10) for path in (f"{parts}/{n}/state", f"{parts}/{n}")),
            parts,
            "/brokers/topics/t",
            "/config/topics/t",
            "/admin/delete_topics/t",
        ]


async def test_hostile_znodes_are_left_out_and_reported() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        store = elected.store
        populate(zookeeper)
        deep = b"[" * 100_000
        zookeeper.put("/brokers/topics/bad", deep)
        zookeeper.put("/brokers/topics/not a name", b"")
        zookeeper.put("/brokers/topics/t/partitions/1/state", b'{"leader":NaN}')
        zookeeper.put("/brokers/ids/7", b"\xff")
        zookeeper.put("/brokers/ids/seven", b"")
        zookeeper.put("/config/topics/bad", b'{"config":7}')
        zookeeper.put("/admin/reassign_partitions", b"x" * 1_000_000)
        zookeeper.put("/admin/preferred_replica_election", deep)
        zookeeper.put("/admin/delete_topics/..x y", b"")
        zookeeper.put("/isr_change_notification/isr_change_0000000001", b"{}")
        zookeeper.put("/log_dir_event_notification/log_dir_event_0000000001", b'{"broker":-1}')
        zookeeper.put("/config/changes/config_change_0000000000", b"[]")
        zookeeper.put("/config/changes/another name", b"")
        zookeeper.put("/config/brokers/<default>", b"?")
        assert await store.read_topic_names() == {"t", "bad"}
        assert list(await store.read_topics(["t", "bad"])) == ["t"]
        assert list(await store.read_leadership([tp(0), tp(1)])) == [tp(0)]
        assert await store.read_brokers() == []
        assert await store.read_topic_configs(["t", "bad"]) == {"t": {"a": "b"}}
        assert await store.read_reassignments() == {}
        assert await store.read_preferred_elections() == frozenset()
        assert await store.read_topic_deletions() == {"t"}
        assert await store.read_isr_notifications() == {
            "isr_change_0000000000": frozenset({tp(0)}),
            "isr_change_0000000001": frozenset(),
        }
        assert await store.read_log_dir_events() == {
            "log_dir_event_0000000000": frozenset({2}),
            "log_dir_event_0000000001": frozenset(),
        }
        assert await store.read_config_changes() == ConfigChanges()
        assert await store.read_broker_defaults() == {}
        assert sorted(error.path for error in elected.unreadable) == [
            "/admin/preferred_replica_election",
            "/admin/reassign_partitions",
            "/brokers/ids/7",
            "/brokers/topics/bad",
            "/brokers/topics/t/partitions/1/state",
            "/config/brokers/<default>",
            "/config/changes/config_change_0000000000",
            "/config/topics/bad",
            "/isr_change_notification/isr_change_0000000001",
            "/log_dir_event_notification/log_dir_event_0000000001",
        ]


async def test_config_changes_are_told_once_each() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        store = elected.store
        prefix = "/config/changes/config_change_"
        zookeeper.put(f"{prefix}0000000000", b'{"version":2,"entity_path":"topics/t"}')
        assert await store.read_config_changes() == ConfigChanges(topics=frozenset({"t"}))
        assert await store.read_config_changes() == ConfigChanges()
        zookeeper.put(f"{prefix}0000000001", b'{"version":2,"entity_path":"brokers/<default>"}')
        zookeeper.put(f"{prefix}0000000002", b'{"version":2,"entity_path":"brokers/1"}')
        zookeeper.put(
            f"{prefix}0000000003", b'{"version":1,"entity_type":"topics","entity_name":"u"}'
        )
        await elected.client.sync("/")
        assert elected.events == [ConfigChange()]
        zookeeper.write(Delete(f"{prefix}0000000000"))
        changes = ConfigChanges(topics=frozenset({"u"}), broker_defaults=True)
        assert await store.read_config_changes() == changes


async def test_the_defaults_of_all_brokers() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        assert await elected.store.read_broker_defaults() == {}
        zookeeper.put("/config/brokers/<default>", b'{"version":1,"config":{"a":"b"}}')
        assert await elected.store.read_broker_defaults() == {"a": "b"}


async def test_a_lost_disk_is_an_event_each_time() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        store = elected.store
        assert await store.read_log_dir_events() == {}
        path = "/log_dir_event_notification/log_dir_event_0000000000"
        zookeeper.put(path, b'{"version":1,"broker":2,"event":1}')
        await elected.client.sync("/")
        assert elected.events == [LogDirEventNotification()]
        assert await store.read_log_dir_events() == {"log_dir_event_0000000000": frozenset({2})}
        await store.delete_log_dir_events(["log_dir_event_0000000000"])
        await elected.client.sync("/")
        assert elected.events == [LogDirEventNotification()] * 2
        assert zookeeper.data(path) is None


async def test_a_hundred_thousand_children() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        for number in range(20_000):
            zookeeper.put(f"/admin/delete_topics/t{number}")
        assert len(await elected.store.read_topic_deletions()) == 20_000
        await elected.store.remove_topic_deletions([f"t{number}" for number in range(20_000)])
        assert await elected.store.read_topic_deletions() == frozenset()


async def test_a_topic_too_large_for_a_znode_is_refused() -> None:
    zookeeper = server()
    async with controller(zookeeper) as elected:
        huge = topic("t", **{f"p{number}": (1, 2, 3) for number in range(80_000)})
        with pytest.raises(RequestRefused) as error:
            await elected.store.create_topic(huge, {})
        assert error.value.error == "INVALID_PARTITIONS"
        assert zookeeper.data("/config/topics/t") is None


async def test_missing_parents_are_no_error() -> None:
    zookeeper = server()
    async with session(zookeeper, "controller") as client:
        store = ControllerStore(client, await elect(client), lambda _: None)
        assert await store.read_topic_names() == frozenset()
        assert await store.read_brokers() == []
        assert await store.read_topics(["t"]) == {}
        assert await store.read_leadership([TopicPartition("t", 0)]) == {}
