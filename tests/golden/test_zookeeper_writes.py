"""What three starting brokers, and writers of configs, write to ZooKeeper: as Kafka 2.8.2 does.

Compared are op, path, data byte by byte, kind and version of each write, in order. What differs,
and why:

- /controller and /controller_epoch are written by candidates, not by broker 1, and /controller has
  the controller's endpoint as well: brokers send what is for the controller there.
- /feature is not written: there is nothing to finalize without UpdateFeatures (57).
- A block of producer ids is taken when a producer asks for the first one, not at each start.
- ACLs and quotas of clients and users are not configured.
"""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ballast.model.assignments import ReplicaAssignment
from ballast.model.ids import TopicPartition
from ballast.model.leadership import LeaderAndIsr
from ballast.model.topics import TopicAssignment
from ballast.zk.broker_store.store import BrokerStore
from ballast.znodes import topics
from tests.fakes.zookeeper import FakeZooKeeper
from tests.simulation.cluster import BROKER_PORT, ClusterOptions, SimulatedCluster
from tests.simulation.hosts import broker_name
from tests.simulation.loop import SimulatedLoop, run
from tests.unit.zk.stores import controller, server, session

GOLDEN = Path(__file__).parent / "zookeeper"
OF_THE_CONTROLLER = ("/controller", "/controller_epoch", "/feature")
OFFSETS = "__consumer_offsets"


class Write(NamedTuple):
    """One write as it is compared."""

    op: str
    path: str
    data: str
    is_ephemeral: bool
    version: int


def recorded(scenario: str) -> dict[str, list[Write]]:
    """Return the recorded writes of each step; versions only where a test begins with none."""
    steps = json.loads((GOLDEN / f"{scenario}.json").read_text())["steps"]
    return {step["step"]: [_recorded(write) for write in step["writes"]] for step in steps}


def _recorded(write: dict[str, Any]) -> Write:
    return Write(
        op="set" if write["op"] == "setData" else write["op"],
        path=write["path"],
        data=write["data"] or "",
        is_ephemeral=write.get("ephemeral", False),
        version=write.get("version", 0),
    )


def written(zookeeper: FakeZooKeeper, since: int = 0, host: str | None = None) -> list[Write]:
    """Return what was written, times and the cluster's id replaced as in the recording."""
    return [
        Write(
            op=operation.name,
            path=operation.path,
            data=_anonymous(operation.data.decode()),
            is_ephemeral=operation.is_ephemeral,
            version=operation.version,
        )
        for record in zookeeper.log[since:]
        for operation in record.operations
        if operation.name != "check" and host in (None, record.host)
    ]


def _anonymous(text: str) -> str:
    text = re.sub(r'"timestamp":"\d+"', '"timestamp":"<ms>"', text)
    return re.sub(r'"id":"[\w-]{22}"', '"id":"<cluster-id>"', text)


def test_three_brokers_start() -> None:
    async def main(loop: SimulatedLoop) -> None:
        cluster = SimulatedCluster(loop, ClusterOptions(brokers=3, candidates=1))
        golden = recorded("cluster-start")
        for broker_id, step in enumerate(golden.values(), start=1):
            name = broker_name(broker_id)
            cluster.start(name)
            async with asyncio.timeout(30):
                while broker_id not in cluster.brokers:
                    await asyncio.sleep(0.1)
            expected = [
                _moved(write, broker_id)
                for write in step
                if write.path not in OF_THE_CONTROLLER
                and (write.op, write.path) != ("set", "/latest_producer_id_block")
            ]
            # The registration is the last thing that a broker writes as it starts.
            assert written(cluster.zookeeper, host=name) == expected

    run(1, main)


def _moved(write: Write, broker_id: int) -> Write:
    """Return a recorded registration as if the broker were on its simulated host."""
    host, port = broker_name(broker_id), 9090 + broker_id
    data = write.data.replace(f"127.0.0.1:{port}", f"{host}:{BROKER_PORT}")
    data = data.replace(f'"port":{port}', f'"port":{BROKER_PORT}')
    return write._replace(data=data.replace('"host":"127.0.0.1"', f'"host":"{host}"'))


BROKER_CONFIGS = {
    "broker dynamic config": (1, {"log.cleaner.backoff.ms": "14000"}, 7),
    "cluster-wide broker default": (None, {"log.cleaner.backoff.ms": "13000"}, -1),
    "broker config removed": (1, {}, 8),
}
"""Per step: whose config, what it is then, and the version of the znode before."""


@pytest.mark.parametrize("step", BROKER_CONFIGS)
async def test_configs_of_brokers(step: str) -> None:
    broker_id, values, version = BROKER_CONFIGS[step]
    zookeeper = server()
    async with session(zookeeper, "broker") as client:
        store = BrokerStore(client)
        await store.ensure_paths()
        for _ in range(version + 1):
            zookeeper.put(f"/config/brokers/{broker_id}", b"")
        before = len(zookeeper.log)
        await store.write_broker_config(broker_id, values, version)
    config, notification = written(zookeeper, before)[:2]
    expected, expected_notification = recorded("other-writes")[step]
    assert config == expected
    prefix = "/config/changes/config_change_"
    for change in (notification, expected_notification):
        assert re.fullmatch(rf"{prefix}\d{{10}}", change.path)
    assert notification._replace(path=prefix) == expected_notification._replace(path=prefix)


async def test_an_internal_topic() -> None:
    golden = recorded("other-writes")["first consumer group (__consumer_offsets)"]
    config, topic, *_ = golden
    zookeeper = server()
    async with controller(zookeeper) as elected:
        data = topic.data.replace("<topic-id-4>", "AAAAAAAAQACAAAAAAAAAAA").encode()
        assignment = topics.decode(OFFSETS, data, 0)
        before = len(zookeeper.log)
        assert await elected.store.create_topic(assignment, json.loads(config.data)["config"])
        await elected.store.create_leadership(first_states(assignment))
    expected = [
        write._replace(data=write.data.replace("<topic-id-4>", "AAAAAAAAQACAAAAAAAAAAA"))
        for write in golden
    ]
    now = [w for w in written(zookeeper, before) if OFFSETS in w.path]
    assert sorted(now) == sorted(expected)
    # Parents come before children; else Kafka goes level by level, and here partition by partition.
    paths = [write.path for write in now]
    assert paths[:3] == [write.path for write in expected[:3]]
    assert all(paths.index(path.rpartition("/")[0]) < n for n, path in enumerate(paths) if n > 2)


def first_states(topic: TopicAssignment) -> dict[TopicPartition, LeaderAndIsr]:
    """Return the states that a controller of epoch 3 gives to new partitions."""

    def state(assignment: ReplicaAssignment) -> LeaderAndIsr:
        replicas = assignment.replicas
        return LeaderAndIsr(leader=replicas[0], leader_epoch=0, isr=replicas, controller_epoch=3)

    return {TopicPartition(topic.topic, n): state(a) for n, a in topic.partitions.items()}
